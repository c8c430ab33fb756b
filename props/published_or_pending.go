package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// PublishedOrPending promises that no committed change is forgotten: each is in the
// audited topic, or still to be published, that is, its row in the outbox is unmarked or
// the slot is not confirmed so far. That is lag and no loss.
//
// It concludes nothing without an audit of the database and of the topic, or where
// retention took records. Of changes that come from the log it knows those that a commit,
// a stream or a row tells of. A slot that is lost or missing keeps nothing: what is not in the
// topic then is lost.
func PublishedOrPending(topic string, source Source) Property {
	name := "published-or-pending/" + topic
	return Property{
		Name: name,
		Says: "Every committed change is in " + topic + ", or known to be still unpublished.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkPending(openChanges(h, topic, source), &f)
			return f.broken()
		},
		Holds:  text(pendingHolds[source], "TOPIC", topic),
		Breaks: text(pendingBreaks[source], "TOPIC", topic),
	}
}

var pendingHolds = map[Source]string{
	FromOutbox: `
1 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
2 9s - observe outbox key=tim/go lsn=D/0 [outbox/0 {@2 id=C/1 key=tim/go cell=enrolled}] (published 0)
3 9s - observe log [TOPIC/0 @0 end=1 {@0 id=A/1 key=ada/go cell=enrolled}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 2s app/0 life 1 return commit 2 done lsn=D/0 [enrollment/0 {id=D/1 key=tim/go cell=enrolled}]
3 9s - observe slot key=slot lsn=C/0 note=reserved
4 9s - observe log [TOPIC/0 @0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
`,
}

var pendingBreaks = map[Source]string{
	FromOutbox: `
1 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
2 9s - observe log [TOPIC/0 @0 end=0]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 9s - observe slot key=slot lsn=C/0 note=reserved
3 9s - observe log [TOPIC/0 @0 end=0]
`,
}

func checkPending(l *ledgerOfChanges, f *findings) {
	if !l.known {
		return
	}
	slot := l.audit.Slot
	gone := l.source == FromLog && (slot.State == "lost" || slot.State == "missing")
	for i := range l.changes {
		c := &l.changes[i]
		if _, ok := l.first[c.changeName]; ok || c.pending && !gone {
			continue
		}
		why := "its row is marked as published"
		switch {
		case gone:
			why = "the slot is " + slot.State
		case l.source == FromLog:
			why = "the slot is confirmed up to " + slot.Confirmed
		}
		f.add(fmt.Sprintf("change %s of %s (%s) is not in %s, and %s",
			c.id, c.key, c.op, l.topic, why), c.seq, slot.Seq, l.logs[0].seq)
	}
}
