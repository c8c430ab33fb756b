package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// OrderPerKey promises that the changes of one key are published in the order of their
// commits: their first copies stand in the audited topic in that order, all in one
// partition. Later copies may stand anywhere: who folds them drops them.
//
// It concludes nothing without an audit of the topic, nothing of records whose commit is
// not known, and nothing of partitions from which retention took records.
func OrderPerKey(topic string, source Source) Property {
	name := "order-per-key/" + topic
	return Property{
		Name: name,
		Says: "The first copies of a key's changes stand in one partition of " + topic +
			", in the order of their commits.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkKeyOrder(openChanges(h, topic, source), &f)
			return f.broken()
		},
		Holds:  text(keyOrderHolds[source], "TOPIC", topic),
		Breaks: text(keyOrderBreaks[source], "TOPIC", topic),
	}
}

var keyOrderHolds = map[Source]string{
	FromOutbox: `
1 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
2 9s - observe outbox key=ada/go lsn=D/0 [outbox/0 {@2 id=C/1 key=ada/go cell=dropped}] (published 1)
3 9s - observe log [TOPIC/0 @0 end=3 {@0 id=A/1 key=ada/go} {@1 id=C/1 key=ada/go} {@2 id=A/1 key=ada/go}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 2s app/0 life 1 return commit 2 done lsn=D/0 [enrollment/0 {id=D/1 key=ada/go cell=dropped}]
3 9s - observe log [TOPIC/0 @0 end=3 {@0 id=B/1 key=ada/go} {@1 id=D/1 key=ada/go} {@2 id=B/1 key=ada/go}]
`,
}

var keyOrderBreaks = map[Source]string{
	FromOutbox: `
1 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
2 9s - observe outbox key=ada/go lsn=D/0 [outbox/0 {@2 id=C/1 key=ada/go cell=dropped}] (published 1)
3 9s - observe log [TOPIC/0 @0 end=2 {@0 id=C/1 key=ada/go} {@1 id=A/1 key=ada/go}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 2s app/0 life 1 return commit 2 done lsn=D/0 [enrollment/0 {id=D/1 key=ada/go cell=dropped}]
3 9s - observe log [TOPIC/0 @0 end=2 {@0 id=D/1 key=ada/go} {@1 id=B/1 key=ada/go}]
`,
}

func checkKeyOrder(l *ledgerOfChanges, f *findings) {
	type latest struct {
		change *change
		spot
	}
	last := make(map[string]latest) // by key, in the order of the log
	for i := range l.logs {
		log := &l.logs[i]
		if log.start > 0 {
			continue // it may have taken first copies
		}
		for r := range log.decided() {
			c := l.byName[nameOf(r)]
			at := spot{log.partition, r.Offset, log.seq}
			if c == nil || l.first[c.changeName] != at {
				continue
			}
			before, ok := last[c.key]
			switch {
			case ok && before.partition != log.partition:
				f.add(fmt.Sprintf("%s has changes in partitions %d and %d of %s",
					c.key, before.partition, log.partition, l.topic), before.seq, log.seq)
			case ok && strings.Compare(c.order, before.change.order) < 0:
				f.add(fmt.Sprintf("%s (%s of %s, %s) comes after %s (%s, %s), which committed "+
					"later",
					place(l.topic, log.partition, r.Offset), c.id, c.key, c.op,
					place(l.topic, before.partition, before.offset), before.change.id,
					before.change.op), c.seq, before.change.seq, log.seq)
			}
			if !ok || c.order > before.change.order {
				last[c.key] = latest{c, at}
			}
		}
	}
}
