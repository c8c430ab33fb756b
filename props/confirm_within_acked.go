package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// ConfirmWithinAcked promises that nobody confirms to the database's log what is not in
// the topic: when a confirmation takes effect, every change that had committed up to its
// position has a copy there. A server that crashes may forget a confirmation; that makes
// it no better.
//
// It goes by the appends that brokers made, whoever got to know of them, and takes a
// record that the audit found and no reply tells of to have been there in time. It
// concludes nothing of a change when nothing but the audit tells that it committed.
func ConfirmWithinAcked(topic string) Property {
	name := "confirm-within-acked/" + topic
	return Property{
		Name: name,
		Says: "No confirmed position passes a change that is not in " + topic + " by then.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkConfirmed(openChanges(h, topic, FromLog), &f)
			return f.broken()
		},
		Holds:  text(confirmedHolds, "TOPIC", topic),
		Breaks: text(confirmedBreaks, "TOPIC", topic),
	}
}

const confirmedHolds = `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 2s app/0 life 1 return commit 2 done lsn=D/0 [enrollment/0 {id=D/1 key=tim/go cell=enrolled}]
3 3s publisher/0 life 1 request Produce 1 [TOPIC/0 {id=B/1 key=ada/go}]
4 3s publisher/0 life 1 reply Produce 1 done of=3 [TOPIC/0 @0 {@0 id=B/1 key=ada/go}]
5 4s publisher/0 life 1 call confirm 1 lsn=C/0
6 4s publisher/0 life 1 return confirm 1 done of=5 lsn=C/0
`

const confirmedBreaks = `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 2s publisher/0 life 1 call confirm 1 lsn=C/0
3 2s publisher/0 life 1 return confirm 1 done of=2 lsn=C/0
4 3s publisher/0 life 1 request Produce 1 [TOPIC/0 {id=B/1 key=ada/go}]
5 3s publisher/0 life 1 reply Produce 1 done of=4 [TOPIC/0 @0 {@0 id=B/1 key=ada/go}]
`

func checkConfirmed(l *ledgerOfChanges, f *findings) {
	told := make(map[changeName]bool)
	for _, s := range steps(l.h, model.Call, model.Return, "confirm") {
		for i := range l.changes {
			c := &l.changes[i]
			if c.id > s.ask.LSN {
				break // changes are in the order of their positions
			}
			committed := c.took != 0 && c.took < s.ask.Seq
			if !committed || told[c.changeName] || l.inTopicBy(c.changeName, s.ask.Seq) {
				continue
			}
			told[c.changeName] = true
			f.add(fmt.Sprintf("%s confirmed %s when change %s of %s (%s) was not in %s",
				lifeText(lifeOf(s.ask)), s.ask.LSN, c.id, c.key, c.op, l.topic),
				c.seq, s.ask.Seq, s.answer.Seq)
		}
	}
}
