package props

import (
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// CommitWithinResolved promises that work comes before the commit: when a commit
// of the group that took effect was asked for, every record below it had been put
// as a data line of an object, with its id, or appended to dlq as a dead letter;
// and no commit passes the end of the log. An empty dlq means that there are no
// dead letters.
//
// A put counts from its call, if its answer has no error: another process may have
// seen the object long before the answer was recorded. A put whose answer hides
// what happened counts once a get returned its bytes; that somebody's condition
// was refused proves nothing of what is there. A dead letter counts from the reply
// to its Produce. So it can miss a commit that overtakes a put under way, never
// accuse one that follows what its process knew. What stands in the log is known from the
// audit, and where a partition has none, from the replies to Produce requests
// outside transactions. Control records, aborted data, offsets at which nothing
// stands and those below the log start are no gaps.
//
// It cannot judge a commit whose answer was never recorded, nor offsets that a
// transaction commits, nor a topic that was deleted and made again. That an
// object was overwritten after the commit is for [NoLoss] to say.
func CommitWithinResolved(topic, group, dlq string) Property {
	name := "commit-within-resolved/" + topic
	return Property{
		Name: name,
		Says: "A commit of " + group + " passes neither a record of " + topic +
			" that is in no object and no dead letter yet, nor the end of the log.",
		Check: func(h *model.History) []Broken {
			c := resolvedCheck{
				ledger: openLedger(h), topic: topic, group: group, dlq: dlq,
				findings: findings{promise: name},
			}
			c.run()
			return c.broken()
		},
		Holds:  text(resolvedHolds, "TOPIC", topic, "GROUP", group),
		Breaks: text(resolvedBreaks, "TOPIC", topic, "GROUP", group),
	}
}

const resolvedHolds = `
1 1s world/0 life 1 reply Produce 1 done [TOPIC/0 @0 {@0 id=ev-1} {@1 id=ev-2}]
2 2s landing/0 life 1 call put 1 key=a digest=d1 [TOPIC/0 {@0 id=ev-1}]
3 2s landing/0 life 1 return put 1 done key=a digest=d1 [TOPIC/0 {@0 id=ev-1}]
4 3s landing/0 life 1 request OffsetCommit 1 group=GROUP [TOPIC/0 @1]
5 3s landing/0 life 1 reply OffsetCommit 1 unknown group=GROUP [TOPIC/0 @1]
`

const resolvedBreaks = `
1 1s world/0 life 1 reply Produce 1 done [TOPIC/0 @0 {@0 id=ev-1} {@1 id=ev-2}]
2 2s landing/0 life 1 request OffsetCommit 1 group=GROUP [TOPIC/0 @1]
3 2s landing/0 life 1 reply OffsetCommit 1 done group=GROUP [TOPIC/0 @1]
4 3s landing/0 life 1 call put 1 key=a digest=d1 [TOPIC/0 {@0 id=ev-1}]
5 3s landing/0 life 1 return put 1 done key=a digest=d1 [TOPIC/0 {@0 id=ev-1}]
`

type resolvedCheck struct {
	*ledger
	findings
	topic, group, dlq string
	parts             []resolution
	called            map[content]*model.Event // puts so far, whatever came of them
}

// content is what somebody wanted to stand under a key.
type content struct{ key, digest string }

// resolution is how far the records of one partition are resolved.
type resolution struct {
	partitionLog
	resolved []bool // by place among the records
	first    int    // every record before this place is resolved
	told     int    // the place of the last gap that was reported, plus 1
}

// run walks through the history once, from commit to commit, and takes in what
// was resolved before each.
func (c *resolvedCheck) run() {
	c.open()
	c.called = make(map[content]*model.Event)
	puts, commits := puts(c.h), commits(c.h)
	events := c.h.Events()
	at := 0
	for _, commit := range commits {
		if commit.answer.Group != c.group {
			continue
		}
		for len(puts) > 0 && puts[0].ask.Seq <= commit.ask.Seq {
			c.stored(puts[0].answer)
			puts = puts[1:]
		}
		for ; at < len(events) && events[at].Seq < commit.ask.Seq; at++ {
			c.passed(&events[at])
		}
		for i := range commit.answer.Parts {
			if p := &commit.answer.Parts[i]; p.Topic == c.topic && p.Err == "" {
				c.judge(commit, p)
			}
		}
	}
}

// open finds out what stands in the partitions.
func (c *resolvedCheck) open() {
	for _, log := range c.logs(c.topic) {
		c.parts = append(c.parts, newResolution(log))
	}
	var heard []partitionLog
	for a := range appends(c.h, c.topic) {
		if a.event.TxnID != "" || c.of(a.part.Partition) != nil {
			continue
		}
		log := logOf(heard, a.part.Partition)
		if log == nil {
			unread := partitionLog{topic: c.topic, partition: a.part.Partition, end: -1}
			heard = append(heard, unread)
			log = &heard[len(heard)-1]
		}
		log.records = append(log.records, *a.record)
	}
	for _, log := range heard {
		log.records = slices.CompactFunc(byOffset(log.records),
			func(a, b model.Record) bool { return a.Offset == b.Offset })
		c.parts = append(c.parts, newResolution(log))
	}
}

func newResolution(log partitionLog) resolution {
	r := resolution{partitionLog: log, resolved: make([]bool, len(log.records))}
	for i := range log.records {
		r.resolved[i] = log.records[i].Kind != model.Data || log.records[i].Offset < log.start
	}
	return r
}

func (c *resolvedCheck) of(partition int32) *resolution {
	for i := range c.parts {
		if c.parts[i].partition == partition {
			return &c.parts[i]
		}
	}
	return nil
}

func (c *resolvedCheck) stored(put *model.Event) {
	for i := range put.Parts {
		p := &put.Parts[i]
		part := c.of(p.Partition)
		if p.Topic != c.topic || part == nil {
			continue
		}
		for j := range p.Records {
			r := &p.Records[j]
			at := part.find(r.Offset)
			if at >= 0 && r.Kind == model.Data && r.ID == part.records[at].ID {
				part.resolved[at] = true
			}
		}
	}
}

// passed takes in what an event before a commit resolves.
func (c *resolvedCheck) passed(e *model.Event) {
	switch {
	case e.Kind == model.Call && (e.Op == "put" || e.Op == "putif"):
		c.called[content{e.Key, e.Digest}] = e
	case e.Kind == model.Return && e.Op == "get" && e.Err == "":
		if put := c.called[content{e.Key, e.Digest}]; put != nil {
			c.stored(put)
		}
	case e.Kind == model.Reply && e.Op == "Produce" && e.Err == "" && c.dlq != "":
		c.lettered(e)
	}
}

func (c *resolvedCheck) lettered(e *model.Event) {
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Topic != c.dlq || p.Err != "" {
			continue
		}
		for j := range p.Records {
			from := p.Records[j].From
			part := c.of(from.Partition)
			if from.Topic != c.topic || part == nil {
				continue
			}
			if at := part.find(from.Offset); at >= 0 {
				part.resolved[at] = true
			}
		}
	}
}

func (c *resolvedCheck) judge(commit step, p *model.Part) {
	part := c.of(p.Partition)
	if part == nil {
		return
	}
	if part.seq != 0 && part.end >= 0 && p.Offset > part.end {
		c.add(fmt.Sprintf("%s committed %s, past the end of the log at %d", commit.ask.Proc,
			place(c.topic, p.Partition, p.Offset), part.end),
			commit.ask.Seq, commit.answer.Seq, part.seq)
	}
	for part.first < len(part.resolved) && part.resolved[part.first] {
		part.first++
	}
	if part.first == len(part.resolved) || part.told > part.first {
		return // a gap is told once, by the first commit that passed it
	}
	if gap := &part.records[part.first]; gap.Offset < p.Offset {
		part.told = part.first + 1
		c.add(fmt.Sprintf("%s committed %s when %s (id %s) was in no object and no dead letter",
			commit.ask.Proc, place(c.topic, p.Partition, p.Offset),
			place(c.topic, p.Partition, gap.Offset), gap.ID),
			commit.ask.Seq, commit.answer.Seq, part.seq)
	}
}
