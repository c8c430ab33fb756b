package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// Identity promises that an event keeps its id: whatever stands in the topic has
// an id that an application asked for.
//
// It concludes that somebody minted an id after the application did, as for each
// retry. It counts data of aborted transactions too, and judges nothing in a
// history in which no application asked, nor without an audit. It cannot see an
// event that took the id of another one. Every producer of the topic must work for
// applications that ask: what the world itself appends has ids of its own.
func Identity(topic string) Property {
	name := "identity/" + topic
	return Property{
		Name: name,
		Says: "Every id in the log of " + topic + " is one that an application asked for.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkIdentity(h, topic, &f)
			return f.broken()
		},
		Holds:  text(identityHolds, "TOPIC", topic),
		Breaks: text(identityBreaks, "TOPIC", topic),
	}
}

const identityHolds = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1}]
`

const identityBreaks = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1-again}]
`

func checkIdentity(h *model.History, topic string, f *findings) {
	asked := make(map[string]bool)
	for n := range notes(h, "ask") {
		if n.about(topic) {
			asked[n.record.ID] = true
		}
	}
	if len(asked) == 0 {
		return
	}
	for _, log := range openLedger(h).logs(topic) {
		for i := range log.records {
			r := &log.records[i]
			if asked[r.ID] || r.Kind != model.Data && r.Kind != model.Aborted {
				continue
			}
			asked[r.ID] = true // once is enough
			f.add(fmt.Sprintf("%s has id %q, which no application asked for",
				place(topic, log.partition, r.Offset), r.ID), log.seq)
		}
	}
}
