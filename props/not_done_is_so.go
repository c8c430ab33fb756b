package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// NotDoneIsSo promises that "not done" is no guess: what a process told an
// application was not done is not in the log, now or later. A lost answer is
// unknown, and saying "not done" of it makes callers send the event as a new one.
//
// It counts: the audited log holds no more copies of an id than it was sent times,
// less the sends that a not-done answer denied, which are those of the answering
// life since it was asked. It cannot tell which of several copies was denied, and a
// send that was never appended hides a denied one that was. Answers name no topic,
// so it needs a world whose answers are about this one.
func NotDoneIsSo(topic string) Property {
	name := "not-done-is-so/" + topic
	return Property{
		Name: name,
		Says: "What an application was told is not done is not in the log of " + topic + ".",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkDenied(h, topic, &f)
			return f.broken()
		},
		Holds:  text(deniedHolds, "TOPIC", topic),
		Breaks: text(deniedBreaks, "TOPIC", topic),
	}
}

const deniedHolds = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note answer not-done [""/-1 {id=ev-1}]
4 3s player/0 life 1 note ask [""/-1 {id=ev-1}]
5 3s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
6 4s player/0 life 1 note answer done [""/-1 {id=ev-1}]
7 9s - observe log [TOPIC/0 @0 end=1 {@0 id=ev-1}]
`

const deniedBreaks = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note answer not-done [""/-1 {id=ev-1}]
4 9s - observe log [TOPIC/0 @0 end=1 {@0 id=ev-1}]
`

func checkDenied(h *model.History, topic string, f *findings) {
	type asked struct {
		life
		id string
	}
	type tally struct {
		allowed, copies int
		seq             int64 // of the last not-done answer
	}
	open := make(map[asked]int) // sends since the ask
	tallies := make(map[string]tally)
	for n := range notes(h, "ask", "send", "answer") {
		key := asked{lifeOf(n.event), n.record.ID}
		t := tallies[key.id]
		switch {
		case n.event.Op == "ask":
			open[key] = 0
		case n.event.Op == "send" && n.topic == topic:
			open[key]++
			t.allowed++
		case n.event.Op == "answer" && n.event.Outcome == model.NotDone:
			t.allowed -= open[key]
			t.seq = n.event.Seq
		}
		tallies[key.id] = t
	}
	for _, log := range openLedger(h).logs(topic) {
		for i := range log.records {
			r := &log.records[i]
			t, told := tallies[r.ID]
			if !told || t.seq == 0 || r.Kind != model.Data {
				continue
			}
			t.copies++
			tallies[r.ID] = t
			if t.copies > t.allowed {
				f.add(fmt.Sprintf("id %s was said to be not done, and stands at %s",
					r.ID, place(topic, log.partition, r.Offset)), t.seq, log.seq)
			}
		}
	}
}
