package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// MarkWithinAcked promises that no row of the outbox is marked as published before its
// change is in the topic.
//
// It goes by the appends that brokers made, whoever got to know of them, and takes a
// record that the audit found and no reply tells of to have been there in time.
func MarkWithinAcked(topic string) Property {
	name := "mark-within-acked/" + topic
	return Property{
		Name: name,
		Says: "No row of the outbox is marked as published before its change is in " + topic + ".",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkMarks(openChanges(h, topic, FromOutbox), &f)
			return f.broken()
		},
		Holds:  text(marksHolds, "TOPIC", topic),
		Breaks: text(marksBreaks, "TOPIC", topic),
	}
}

const marksHolds = `
1 3s poller/0 life 1 request Produce 1 [TOPIC/0 {id=A/1 key=ada/go}]
2 3s poller/0 life 1 reply Produce 1 unknown of=1 [TOPIC/0 @0 {@0 id=A/1 key=ada/go}]
3 4s poller/0 life 1 call mark 1 key=outbox [outbox/0 {@1 id=A/1 key=ada/go}]
4 4s poller/0 life 1 return mark 1 done of=3 key=outbox [outbox/0 {@1 id=A/1 key=ada/go}]
`

const marksBreaks = `
1 2s poller/0 life 1 call mark 1 key=outbox [outbox/0 {@1 id=A/1 key=ada/go}]
2 2s poller/0 life 1 return mark 1 done of=1 key=outbox [outbox/0 {@1 id=A/1 key=ada/go}]
3 3s poller/0 life 1 request Produce 1 [TOPIC/0 {id=A/1 key=ada/go}]
4 3s poller/0 life 1 reply Produce 1 done of=3 [TOPIC/0 @0 {@0 id=A/1 key=ada/go}]
`

func checkMarks(l *ledgerOfChanges, f *findings) {
	for _, s := range steps(l.h, model.Call, model.Return, "mark") {
		for i := range s.answer.Parts {
			p := &s.answer.Parts[i]
			if p.Topic != outboxTable {
				continue
			}
			for j := range p.Records {
				r := &p.Records[j]
				if r.ID != "" && !l.inTopicBy(nameOf(r), s.ask.Seq) {
					f.add(fmt.Sprintf("%s marked row %d (%s of %s) when it was not in %s",
						lifeText(lifeOf(s.ask)), r.Offset, r.ID, r.Key, l.topic),
						s.ask.Seq, s.answer.Seq)
				}
			}
		}
	}
}
