package props

import (
	"fmt"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// EpochsBounded promises that nobody fights over a transactional id: within any window
// of length per, no id is given more than limit producer ids or epochs by
// InitProducerID. Time is that of the history, virtual in simulation.
//
// It concludes a fencing fight, or a life that starts over and over. An answer counts
// if it has no error, whoever got it, at the time of its request; what a broker adds
// with each transaction or when it ends one that took too long does not. Two that are
// exactly per apart are in no common window. Of an id only the first window is
// reported. It cannot tell who is to blame.
func EpochsBounded(limit int, per time.Duration) Property {
	const name = "epochs-bounded/transactional-ids"
	return Property{
		Name: name,
		Says: fmt.Sprintf("No transactional id is given more than %d epochs by InitProducerID "+
			"within %s.", limit, per),
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkEpochs(h, limit, per, &f)
			return f.broken()
		},
		Holds:  epochs(limit),
		Breaks: epochs(limit + 1),
	}
}

// epochs is a history with n epochs of one id at one instant.
func epochs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 1s validated/%d life %d reply InitProducerID 1 done producer=1 "+
			"epoch=%d txn=v-0\n", i+1, i%2, i/2+1, i)
	}
	return b.String()
}

func checkEpochs(h *model.History, limit int, per time.Duration, f *findings) {
	given := make(map[string][]step) // within per of the last
	told := make(map[string]bool)
	for _, s := range steps(h, model.Request, model.Reply, "InitProducerID") {
		id := s.answer.TxnID
		if id == "" || told[id] {
			continue
		}
		window := append(given[id], s)
		for s.ask.At-window[0].ask.At >= per {
			window = window[1:]
		}
		given[id] = window
		if len(window) > limit {
			told[id] = true
			first := window[0]
			f.add(fmt.Sprintf("%s was given %d epochs within %s, from epoch %d of %s life %d "+
				"to epoch %d of %s life %d", id, len(window), s.ask.At-first.ask.At,
				first.answer.Epoch, first.ask.Proc, first.ask.Life,
				s.answer.Epoch, s.ask.Proc, s.ask.Life), first.answer.Seq, s.answer.Seq)
		}
	}
}
