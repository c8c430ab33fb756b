package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// NoSilentDrop promises that a process that ends well leaves nothing unsaid: a
// life that returned without an error has answered every ask that it took, and its
// client libraries have resolved every record that they took to be sent. Any
// outcome will do, so long as it was told.
//
// It concludes that accepted work was dropped in silence, as by an exit without a
// flush. It judges no life that crashed, that returned an error, or that still ran
// when the run ended. It cannot tell whether the outcome that was told is true.
func NoSilentDrop() Property {
	const name = "no-silent-drop/lives"
	return Property{
		Name: name,
		Says: "A process that exits without an error has answered what it was asked " +
			"and resolved what it sent.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkDrops(h, &f)
			return f.broken()
		},
		Holds:  text(dropHolds),
		Breaks: text(dropBreaks),
	}
}

const dropHolds = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note send [t/-1 {id=ev-1}]
3 2s player/0 life 1 note ack unknown err="client closed" [t/-1 {id=ev-1}]
4 2s player/0 life 1 note answer unknown [""/-1 {id=ev-1}]
5 2s player/0 life 1 exit - done
`

const dropBreaks = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 1s player/0 life 1 note answer done [""/-1 {id=ev-1}]
3 1s player/0 life 1 note send [t/-1 {id=ev-1}]
4 2s player/0 life 1 exit - done
`

// errand is what a life took on: an ask, or a record to send.
type errand struct {
	life
	send      bool
	topic, id string
}

func checkDrops(h *model.History, f *findings) {
	exits := make(map[life]int64)
	events := h.Events()
	for i := range events {
		if e := &events[i]; e.Kind == model.Exit && e.Outcome == model.Done {
			exits[lifeOf(e)] = e.Seq
		}
	}
	if len(exits) == 0 {
		return
	}
	open := make(map[errand]int)
	for n := range notes(h, "ask", "answer", "send", "ack") {
		e := errand{
			lifeOf(n.event), n.event.Op == "send" || n.event.Op == "ack", n.topic, n.record.ID,
		}
		if _, ended := exits[e.life]; !ended {
			continue
		}
		if n.event.Op == "ask" || n.event.Op == "send" {
			open[e]++
		} else {
			open[e]--
		}
	}
	for n := range notes(h, "ask", "send") {
		e := errand{lifeOf(n.event), n.event.Op == "send", n.topic, n.record.ID}
		if open[e] <= 0 {
			continue
		}
		open[e]--
		left := "took an ask for id %s and exited without an answer"
		if e.send {
			left = "sent id %s and exited before the promise was resolved"
		}
		f.add(fmt.Sprintf("%s life %d "+left, e.proc, e.number, e.id), n.event.Seq, exits[e.life])
	}
}
