package props

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// OffsetArithmetic promises that each transaction that commits moves the group by what
// it holds: for every partition of input, the offset that it commits is above every
// record from which the transaction made output, passes no other accepted record, is
// not below the offset that was committed before, and not above the end of the
// partition as anybody knew it then. A transaction with output commits an offset.
//
// A transaction is what a life asked for under one transactional id and epoch until
// its EndTxn took effect, as the answer says, whoever got it. One whose EndTxn was
// refused or never answered is not judged, and neither is one that aborts. What was
// appended is told by the replies to Produce; an offset counts if the reply says so.
//
// What was accepted and passed is known from the audited logs: a record of input, from
// the offset that was committed before, or from the output of the transaction, on, of
// which nothing stands in output. What stands below the log start of input, and data
// of transactions that were aborted or never ended, may be passed. Where the log of
// output was not read in full, this is not judged. The end that was known is told by
// the answers to Fetch,
// ListOffsets and Produce before the offset was sent; where there are none, by the
// audit. It cannot tell an explicit reset of the group from going back.
func OffsetArithmetic(input, output, group string) Property {
	name := "offset-arithmetic/" + output
	return Property{
		Name: name,
		Says: "A transaction commits as offset of " + group + " what is next after the records " +
			"of " + input + " that it holds: not one of them, not past others, not back, " +
			"not past the end.",
		Check: func(h *model.History) []Broken {
			c := arithmetic{
				ledger: openLedger(h), input: input, output: output, group: group,
				previous: make(map[int32]highest), findings: findings{promise: name},
			}
			c.run()
			return c.broken()
		},
		Holds:  text(arithmeticHolds, "INPUT", input, "OUTPUT", output, "GROUP", group),
		Breaks: text(arithmeticBreaks, "INPUT", input, "OUTPUT", output, "GROUP", group),
	}
}

const arithmeticHolds = `
1 1s validated/0 life 1 reply Fetch 1 done [INPUT/0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 class=no-json}]
2 2s validated/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=v-0 [OUTPUT/0 @0 {@0 from=INPUT/0@0} {@1 from=INPUT/0@1}]
3 2s validated/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=GROUP txn=v-0 [INPUT/0 @3]
4 2s validated/0 life 1 reply EndTxn 1 unknown producer=1 epoch=0 txn=v-0 note=commit
`

const arithmeticBreaks = `
1 1s validated/0 life 1 reply Fetch 1 done [INPUT/0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 class=no-json}]
2 2s validated/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=v-0 [OUTPUT/0 @0 {@0 from=INPUT/0@0} {@1 from=INPUT/0@1}]
3 2s validated/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=GROUP txn=v-0 [INPUT/0 @1]
4 2s validated/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=v-0 note=commit
`

type arithmetic struct {
	*ledger
	findings
	input, output, group string
	logs                 []partitionLog
	derived              derivation
	complete             bool // what is not among derived is nowhere
	ends                 map[int32][]highest
	previous             map[int32]highest // what is committed by now
}

// movement is what one transaction says of one partition of input.
type movement struct {
	partition int32
	last      highest // the last of those that were appended; offset -1: none
	next      highest // the offset that was committed; -1: none
	unclear   bool    // an offset was sent, and nobody knows what became of it
}

func (c *arithmetic) run() {
	c.logs = c.ledger.logs(c.input)
	c.derived, c.complete = c.derivation(c.input, c.output)
	c.ends = knownEnds(c.h, c.input)
	plain := commits(c.h)
	for _, t := range transactions(c.h) {
		for len(plain) > 0 && plain[0].ask.Seq < t.end.ask.Seq {
			c.plain(plain[0].answer)
			plain = plain[1:]
		}
		for _, m := range c.movements(t) {
			c.judge(t, m)
			if m.next.offset >= 0 {
				c.previous[m.partition] = m.next
			}
		}
	}
}

// plain takes in offsets that were committed beside any transaction.
func (c *arithmetic) plain(e *model.Event) {
	for i := range e.Parts {
		p := &e.Parts[i]
		if e.Group == c.group && p.Topic == c.input && p.Err == "" {
			c.previous[p.Partition] = highest{p.Offset, e.Seq}
		}
	}
}

// movements returns what a transaction says, by partition of input.
func (c *arithmetic) movements(t transaction) []movement {
	var all []movement
	of := func(partition int32) *movement {
		i := slices.IndexFunc(all, func(m movement) bool { return m.partition == partition })
		if i < 0 {
			i = len(all)
			all = append(all, movement{
				partition: partition, last: highest{offset: -1}, next: highest{offset: -1},
			})
		}
		return &all[i]
	}
	for _, s := range t.produces {
		if !s.took() {
			continue
		}
		for from := range c.origins(s.answer) {
			if m := of(from.Partition); from.Offset > m.last.offset {
				m.last = highest{from.Offset, s.ask.Seq}
			}
		}
	}
	for _, s := range t.offsets {
		if s.ask.Group != c.group {
			continue
		}
		for i := range s.ask.Parts {
			if p := &s.ask.Parts[i]; p.Topic == c.input && s.answer == nil {
				of(p.Partition).unclear = true
			}
		}
		if s.took() {
			for i := range s.answer.Parts {
				if p := &s.answer.Parts[i]; p.Topic == c.input && p.Err == "" {
					of(p.Partition).next = highest{p.Offset, s.ask.Seq}
				}
			}
		}
	}
	return all
}

// origins yields where the records come from that a Produce appended to output.
func (c *arithmetic) origins(e *model.Event) iter.Seq[model.Position] {
	return func(yield func(model.Position) bool) {
		for i := range e.Parts {
			p := &e.Parts[i]
			if p.Topic != c.output || p.Err != "" {
				continue
			}
			for j := range p.Records {
				if from := p.Records[j].From; from.Topic == c.input && !yield(from) {
					return
				}
			}
		}
	}
}

func (c *arithmetic) judge(t transaction, m movement) {
	say := func(what string, seqs ...int64) {
		c.add(fmt.Sprintf("%s life %d, transaction of %s, epoch %d: %s", t.proc, t.number,
			t.id, t.epoch, what), append(seqs, t.end.answer.Seq)...)
	}
	made := place(c.input, m.partition, m.last.offset)
	if m.next.offset < 0 {
		if m.last.offset >= 0 && !m.unclear {
			say("it holds output of "+made+" and no offset of that partition", m.last.seq)
		}
		return
	}
	commits := "it commits " + place(c.input, m.partition, m.next.offset)
	if m.next.offset <= m.last.offset {
		say(commits+" as next, and holds output of "+made, m.last.seq, m.next.seq)
	}
	was, known := c.previous[m.partition]
	if known && m.next.offset < was.offset {
		say(fmt.Sprintf("%s after %d had been committed", commits, was.offset), was.seq, m.next.seq)
	}
	end, told := endBefore(c.ends[m.partition], m.next.seq)
	log := logOf(c.logs, m.partition)
	if !told && log != nil {
		end, told = highest{log.end, log.seq}, log.end >= 0
	}
	if told && m.next.offset > max(end.offset, was.offset) {
		say(fmt.Sprintf("%s, past the end that was known, %d", commits, end.offset),
			m.next.seq, end.seq)
	}
	from := m.last.offset + 1
	if known {
		from = was.offset
	}
	if log == nil || !c.complete || !known && m.last.offset < 0 {
		return
	}
	if r := c.skipped(log, from, m.next.offset); r != nil {
		say(fmt.Sprintf("%s, past %s (id %s), of which there is no output", commits,
			place(c.input, m.partition, r.Offset), r.ID), m.next.seq, log.seq)
	}
}

// skipped returns the first accepted record from one offset to below another of
// which there is no output.
func (c *arithmetic) skipped(log *partitionLog, from, to int64) *model.Record {
	i, _ := slices.BinarySearchFunc(log.records, max(from, log.start),
		func(r model.Record, offset int64) int { return cmp.Compare(r.Offset, offset) })
	for ; i < len(log.records) && log.records[i].Offset < to; i++ {
		r := &log.records[i]
		at := model.Position{Topic: c.input, Partition: log.partition, Offset: r.Offset}
		if r.Kind == model.Data && r.Class == "" && !log.isOpen(r) && len(c.derived.of(at)) == 0 {
			return r
		}
	}
	return nil
}

// knownEnds returns by partition how the end of a topic was seen to rise: each end
// with the event that told it.
func knownEnds(h *model.History, topic string) map[int32][]highest {
	ends := make(map[int32][]highest)
	events := h.Events()
	for i := range events {
		e := &events[i]
		if e.Kind != model.Reply || e.Err != "" ||
			e.Op != "Fetch" && e.Op != "ListOffsets" && e.Op != "Produce" {
			continue
		}
		for j := range e.Parts {
			p := &e.Parts[j]
			if p.Topic != topic || p.Err != "" {
				continue
			}
			end := p.End
			if e.Op == "ListOffsets" {
				end = p.Offset
			}
			if n := len(p.Records); n > 0 {
				end = max(end, p.Records[n-1].Offset+1)
			}
			known := ends[p.Partition]
			if n := len(known); n == 0 || end > known[n-1].offset {
				ends[p.Partition] = append(known, highest{end, e.Seq})
			}
		}
	}
	return ends
}

// endBefore returns the last end that was known before an event.
func endBefore(known []highest, seq int64) (highest, bool) {
	i, _ := slices.BinarySearchFunc(known, seq, func(e highest, seq int64) int {
		return cmp.Compare(e.seq, seq)
	})
	if i == 0 {
		return highest{}, false
	}
	return known[i-1], true
}
