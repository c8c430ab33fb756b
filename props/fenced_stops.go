package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// FencedStops promises that who was fenced gives way: a life that was answered
// PRODUCER_FENCED, INVALID_PRODUCER_EPOCH or FENCED_INSTANCE_ID does not ask for a
// producer id under a transactional id any more, be it this one or another.
//
// The answer counts if it was delivered; one that was lost, or whose text a fault
// replaced on its way, taught the life nothing. A producer without a transactional id
// cannot be fenced, so what it is answered does not count. It cannot conclude that the
// life ended, nor see one that asked when the answer was already on its way: that
// counts as after it. A new life of the process may ask again.
func FencedStops() Property {
	const name = "fenced-stops/lives"
	return Property{
		Name: name,
		Says: "A life that was told that it is fenced sends no InitProducerID " +
			"for a transactional id any more.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkFenced(h, &f)
			return f.broken()
		},
		Holds:  text(fencedHolds),
		Breaks: text(fencedBreaks),
	}
}

const fencedHolds = `
1 1s validated/0 life 1 reply Produce 1 not-done producer=1 epoch=0 txn=v-0 [out/0 err=INVALID_PRODUCER_EPOCH]
2 2s validated/0 life 1 exit - not-done err=fenced
3 3s validated/0 life 2 request InitProducerID 1 txn=v-0
`

const fencedBreaks = `
1 1s validated/0 life 1 reply EndTxn 1 not-done err=PRODUCER_FENCED producer=1 epoch=0 txn=v-0 note=commit
2 2s validated/0 life 1 request InitProducerID 2 txn=v-0
`

func checkFenced(h *model.History, f *findings) {
	fenced := make(map[life]*model.Event)
	events := h.Events()
	for i := range events {
		e := &events[i]
		of := lifeOf(e)
		switch {
		case e.Kind == model.Request && e.Op == "InitProducerID" && e.TxnID != "":
			if by := fenced[of]; by != nil {
				f.add(fmt.Sprintf("%s life %d asked for a producer id of %s after %s had been "+
					"answered %s", of.proc, of.number, e.TxnID, by.Op, fence(by)), by.Seq, e.Seq)
			}
		case e.Kind == model.Reply && e.Outcome != model.Unknown && fence(e) != "":
			if fenced[of] == nil {
				fenced[of] = e
			}
		}
	}
}
