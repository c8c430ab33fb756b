package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// AckedIsStored promises that what was acknowledged is there: a record whose
// promise the client library resolved as done stands in the audited log at the
// acknowledged partition and offset, and an id for which an application got a
// done answer has at least one copy in the topic.
//
// It concludes loss after an acknowledgement, and an acknowledgement that names
// another record's offset. An acknowledgement without an offset is judged like an
// answer. It cannot conclude anything of offsets below the log start, which
// retention took, of partitions that the audit did not read, nor of a compacted
// topic, where the absence of a record is no loss. Without an audit nothing is
// judged and nothing is reported. A record of an aborted transaction counts as
// stored for its acknowledgement, not for an answer. An answer that names no topic
// is taken to be about this one.
func AckedIsStored(topic string) Property {
	name := "acked-is-stored/" + topic
	return Property{
		Name: name,
		Says: "What was acknowledged on " + topic + " stands in its log: " +
			"an acked record at its acked offset, an answered id at least once.",
		Check: func(h *model.History) []Broken {
			c := ackedCheck{
				ledger: openLedger(h), topic: topic, findings: findings{promise: name},
			}
			c.run()
			return c.broken()
		},
		Holds:  text(ackedHolds, "TOPIC", topic),
		Breaks: text(ackedBreaks, "TOPIC", topic),
	}
}

const ackedHolds = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note ack done [TOPIC/0 {@0 id=ev-1}]
4 2s player/0 life 1 note answer done [""/-1 {id=ev-1}]
5 9s - observe log [TOPIC/0 @0 end=1 {@0 id=ev-1}]
`

const ackedBreaks = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note ack done [TOPIC/0 {@0 id=ev-1}]
4 2s player/0 life 1 note answer done [""/-1 {id=ev-1}]
5 9s - observe log [TOPIC/0 @0 end=1 {@0 id=ev-2}]
`

type ackedCheck struct {
	*ledger
	findings
	topic  string
	logs   []partitionLog
	stored map[string]bool // ids with a copy in the topic, or one that retention took
}

func (c *ackedCheck) run() {
	if c.logs = c.ledger.logs(c.topic); len(c.logs) == 0 {
		return
	}
	for _, ack := range model.Acks(c.h) {
		if ack.Topic == c.topic && ack.Outcome == model.Done {
			c.acked(ack)
		}
	}
	// Absence from the topic can only be told with all of it at hand.
	if c.logUnread(c.topic) {
		return
	}
	told := make(map[string]bool)
	for n := range notes(c.h, "answer") {
		id := n.record.ID
		if !n.about(c.topic) || n.event.Outcome != model.Done || c.isStored(id) || told[id] {
			continue
		}
		told[id] = true
		c.add(fmt.Sprintf("id %s was answered done, and no copy of it is in %s", id, c.topic),
			n.event.Seq, c.logs[0].seq)
	}
}

func (c *ackedCheck) acked(ack model.Ack) {
	log := logOf(c.logs, ack.Partition)
	switch {
	case log == nil:
	case ack.Offset < 0:
		if !c.logUnread(c.topic) && !c.isStored(ack.ID) {
			c.add(fmt.Sprintf("id %s was acked without an offset, and no copy of it is in %s",
				ack.ID, c.topic), ack.Seq, log.seq)
		}
	case ack.Offset < log.start:
	default:
		r := log.at(ack.Offset)
		if r == nil || r.Kind != model.Data && r.Kind != model.Aborted || r.ID != ack.ID {
			c.add(fmt.Sprintf("id %s was acked at %s, where the log holds %s",
				ack.ID, place(c.topic, ack.Partition, ack.Offset), standing(r)),
				ack.Seq, log.seq)
		}
	}
}

// isStored reports whether a copy of id is, or was until retention, in the topic.
func (c *ackedCheck) isStored(id string) bool {
	if c.stored != nil {
		return c.stored[id]
	}
	c.stored = make(map[string]bool)
	trimmed := false
	for i := range c.logs {
		trimmed = trimmed || c.logs[i].start > 0
		for j := range c.logs[i].records {
			if r := &c.logs[i].records[j]; r.Kind == model.Data {
				c.stored[r.ID] = true
			}
		}
	}
	if trimmed {
		for a := range appends(c.h, c.topic) {
			if log := logOf(c.logs, a.part.Partition); log != nil && a.offset < log.start {
				c.stored[a.record.ID] = true
			}
		}
	}
	return c.stored[id]
}
