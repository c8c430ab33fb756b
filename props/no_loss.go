package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// NoLoss promises that what is committed is kept: every record of the audited log
// that is below the group's audited offset is a data line of an object, with its
// id, or a dead letter, and not both. An empty dlq means that there are no dead
// letters.
//
// It is judged on what the audit found, so coverage must last: an overwrite after
// the commit shows. A line that says reject or hole keeps nothing. Several dead
// letters of one record are fine. Control records, aborted data, offsets at which
// nothing stands and those below the log start are no loss.
//
// It cannot conclude anything without an audit, nor at or above the group's
// offset. Where an object or the log of dlq could not be read, or dlq was not
// audited, a record that is found nowhere is not reported; one that is found twice
// is. Dead letters that retention took are known from the replies to their Produce.
func NoLoss(topic, group, dlq string) Property {
	name := "no-loss/" + topic
	p := Property{
		Name: name,
		Says: "Every record of " + topic + " below the offset of " + group +
			" is in an object or a dead letter, and not in both.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkLoss(openLanded(h, topic, group, dlq), &f)
			return f.broken()
		},
		Holds:  text(lossHolds, "TOPIC", topic, "GROUP", group, "DLQ", dlq),
		Breaks: text(lossBreaks, "TOPIC", topic, "GROUP", group, "DLQ", dlq),
	}
	if dlq == "" {
		p.Holds = text(lossHoldsPlain, "TOPIC", topic, "GROUP", group)
	}
	return p
}

const lossHolds = `
1 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 id=ev-3}]
2 9s - observe log [DLQ/0 @0 end=1 {@0 id=ev-2 from=TOPIC/0@1}]
3 9s - observe commit group=GROUP [TOPIC/0 @2]
4 9s - observe object key=a [TOPIC/0 {@0 id=ev-1} {@1 reject}]
`

const lossHoldsPlain = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-2}]
2 9s - observe commit group=GROUP [TOPIC/0 @1]
3 9s - observe object key=a [TOPIC/0 {@0 id=ev-1}]
`

const lossBreaks = `
1 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 id=ev-3}]
2 9s - observe commit group=GROUP [TOPIC/0 @2]
3 9s - observe object key=a [TOPIC/0 {@0 id=ev-1} {@1 reject}]
4 9s - observe log [DLQ/0 @0 end=0]
`

// landed is where the records of a topic went, as the audit found them.
type landed struct {
	*ledger
	topic, group, dlq string
	lines             lines
	letters           letters
	complete          bool // what is in no line and no letter is nowhere
}

func openLanded(h *model.History, topic, group, dlq string) *landed {
	l := openLedger(h)
	return &landed{
		ledger: l, topic: topic, group: group, dlq: dlq,
		lines: l.lines(topic), letters: l.letters(dlq),
		complete: !l.objectsUnread() &&
			(dlq == "" || len(l.audit.Topic(dlq)) > 0 && !l.logUnread(dlq)),
	}
}

// below yields every record that the group has committed, and the commit.
func (l *landed) below(yield func(*partitionLog, *model.Record, model.GroupOffset)) {
	logs := l.logs(l.topic)
	for i := range logs {
		log := &logs[i]
		commit := l.committed(l.group, l.topic, log.partition)
		for j := range log.records {
			r := &log.records[j]
			if r.Offset >= commit.Offset {
				break
			}
			if r.Kind == model.Data && r.Offset >= log.start {
				yield(log, r, commit)
			}
		}
	}
}

func checkLoss(l *landed, f *findings) {
	l.below(func(log *partitionLog, r *model.Record, commit model.GroupOffset) {
		found := l.lines.at(log.partition, r.Offset)
		line := found.holding(r.ID)
		letter := l.letters.of(model.Position{
			Topic: l.topic, Partition: log.partition, Offset: r.Offset,
		})
		switch {
		case line != nil && letter != nil:
			f.add(fmt.Sprintf("%s (id %s) is in both: object %s and dead letter %s",
				place(l.topic, log.partition, r.Offset), r.ID,
				line.object.Key, place(l.dlq, letter.partition, letter.offset)),
				log.seq, commit.Seq, line.object.Seq, letter.seq)
		case line == nil && letter == nil && l.complete:
			f.add(fmt.Sprintf("%s (id %s) is in neither object nor dead letter, "+
				"and %s committed %d%s", place(l.topic, log.partition, r.Offset), r.ID,
				l.group, commit.Offset, found.instead()),
				log.seq, commit.Seq)
		}
	})
}

// instead says what objects have at an offset that they do not hold.
func (l lines) instead() string {
	if len(l) == 0 {
		return ""
	}
	if l[0].kind == model.Data {
		return fmt.Sprintf("; object %s has id %s there", l[0].object.Key, l[0].id)
	}
	return fmt.Sprintf("; object %s says %s there", l[0].object.Key, l[0].kind)
}
