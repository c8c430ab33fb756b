package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// AllAnswered promises that no application waits for ever: every id that an
// application asked for got a done answer, from whichever life.
//
// It concludes that an ask was left open when the run ended, so it means something
// only after the faults ended and callers had their time to ask again. It cannot
// tell whether the answer was true: that is for [AckedIsStored]. A caller that asks
// again after a done answer is not owed a second one.
func AllAnswered() Property {
	const name = "all-answered/asks"
	return Property{
		Name: name,
		Says: "Every id that an application asked for got a done answer in the end.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkAnswered(h, &f)
			return f.broken()
		},
		Holds:  text(answeredHolds),
		Breaks: text(answeredBreaks),
	}
}

const answeredHolds = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 2s player/0 life 1 crash
3 3s player/0 life 2 note ask [""/-1 {id=ev-1}]
4 4s player/0 life 2 note answer done [""/-1 {id=ev-1}]
`

const answeredBreaks = `
1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
2 2s player/0 life 1 note answer unknown [""/-1 {id=ev-1}]
`

func checkAnswered(h *model.History, f *findings) {
	done := make(map[string]bool)
	for n := range notes(h, "answer") {
		if n.event.Outcome == model.Done {
			done[n.record.ID] = true
		}
	}
	for n := range notes(h, "ask") {
		if !done[n.record.ID] {
			done[n.record.ID] = true // once is enough
			f.add(fmt.Sprintf("id %s was asked for and never answered done", n.record.ID),
				n.event.Seq)
		}
	}
}
