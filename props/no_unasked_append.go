package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// NoUnaskedAppend promises that nothing appends by itself: the audited log holds
// no more copies of an id than the client libraries were told to send.
//
// It concludes that a retry below the application was appended twice, or that
// somebody appended who was never asked. It counts data of aborted transactions
// too. It cannot tell which of several copies is the extra one: it names the ones
// beyond the count, by partition and offset. Records without an id are not judged.
// It needs every producer of the topic to be tapped, the world's own too; a send
// that was never appended hides an extra copy of the same id.
func NoUnaskedAppend(topic string) Property {
	name := "no-unasked-append/" + topic
	return Property{
		Name: name,
		Says: "The log of " + topic + " holds no more copies of an id than it was sent times.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkUnasked(h, topic, &f)
			return f.broken()
		},
		Holds:  text(unaskedHolds, "TOPIC", topic),
		Breaks: text(unaskedBreaks, "TOPIC", topic),
	}
}

const unaskedHolds = `
1 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
2 2s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1}]
`

const unaskedBreaks = `
1 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
2 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1}]
`

func checkUnasked(h *model.History, topic string, f *findings) {
	type tally struct {
		sent, copies int
		seq          int64 // of the last send
	}
	tallies := make(map[string]tally)
	for n := range notes(h, "send") {
		if n.topic == topic {
			t := tallies[n.record.ID]
			tallies[n.record.ID] = tally{sent: t.sent + 1, seq: n.event.Seq}
		}
	}
	for _, log := range openLedger(h).logs(topic) {
		for i := range log.records {
			r := &log.records[i]
			if r.ID == "" || r.Kind != model.Data && r.Kind != model.Aborted {
				continue
			}
			t := tallies[r.ID]
			t.copies++
			tallies[r.ID] = t
			if t.copies > t.sent {
				f.add(fmt.Sprintf("%s is copy %d of id %s, which was sent %s",
					place(topic, log.partition, r.Offset), t.copies, r.ID, times(t.sent)),
					t.seq, log.seq)
			}
		}
	}
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
