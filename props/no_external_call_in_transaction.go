package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// NoExternalCallInTransaction promises that nothing outside Kafka happens inside a
// transaction: between the first request of a transaction (a Produce, or what adds a
// partition or offsets to it) and the answer to its EndTxn, the life that asked makes
// no call to a store or a database.
//
// It concludes from order alone: a call that only happens to run beside a transaction
// of the same life is one inside it. Any answer to EndTxn ends a transaction here, a
// refusal too; without one it is open until the life gets a new epoch for its id. Each
// is reported once, by the first call. What other lives do meanwhile is not judged.
func NoExternalCallInTransaction() Property {
	const name = "no-external-call-in-transaction/lives"
	return Property{
		Name: name,
		Says: "No life calls a store or a database between the first request of a transaction " +
			"and the answer to its end.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkCalls(h, &f)
			return f.broken()
		},
		Holds:  text(callHolds),
		Breaks: text(callBreaks),
	}
}

const callHolds = `
1 1s validated/0 life 1 request Produce 1 producer=1 epoch=0 txn=v-0 [out/0 seq=0 {id=ev-1}]
2 1s landing/0 life 1 call put 1 key=a digest=d1
3 1s validated/0 life 1 reply Produce 1 done of=1 producer=1 epoch=0 txn=v-0 [out/0 @0 {@0 id=ev-1}]
4 2s validated/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=v-0 note=commit
5 2s validated/0 life 1 reply EndTxn 1 done of=4 producer=1 epoch=0 txn=v-0 note=commit
6 3s validated/0 life 1 call put 1 key=a digest=d1
`

const callBreaks = `
1 1s validated/0 life 1 request Produce 1 producer=1 epoch=0 txn=v-0 [out/0 seq=0 {id=ev-1}]
2 1s validated/0 life 1 call put 1 key=a digest=d1
3 2s validated/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=v-0 note=commit
4 2s validated/0 life 1 reply EndTxn 1 done of=3 producer=1 epoch=0 txn=v-0 note=commit
`

func checkCalls(h *model.History, f *findings) {
	open := make(opened)
	told := make(map[*model.Event]bool)
	events := h.Events()
	for i := range events {
		e := &events[i]
		open.take(e)
		if e.Kind != model.Call {
			continue
		}
		for _, first := range open[lifeOf(e)] {
			if !told[first] {
				told[first] = true
				f.add(fmt.Sprintf("%s life %d called %s of %q in a transaction of %s",
					e.Proc, e.Life, e.Op, e.Key, first.TxnID), first.Seq, e.Seq)
			}
		}
	}
}
