package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// OffsetsOnlyInTransactions promises that the offsets of a group move with the output
// alone: no OffsetCommit of the group takes effect, whoever asks for it.
//
// It concludes a commit beside the transaction, whether before or after it. One that
// was refused, that never reached a broker, or whose answer was never recorded is not
// reported. It cannot tell an operator who resets a group from the program.
func OffsetsOnlyInTransactions(group string) Property {
	name := "offsets-only-in-transactions/" + group
	return Property{
		Name: name,
		Says: "No offset of " + group + " is committed outside a transaction.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			for _, s := range commits(h) {
				if s.answer.Group == group {
					checkPlainCommit(s, &f)
				}
			}
			return f.broken()
		},
		Holds:  text(onlyHolds, "GROUP", group),
		Breaks: text(onlyBreaks, "GROUP", group),
	}
}

const onlyHolds = `
1 1s validated/0 life 1 request TxnOffsetCommit 1 producer=1 epoch=0 group=GROUP txn=v-0 [in/0 @4]
2 1s validated/0 life 1 reply TxnOffsetCommit 1 done of=1 producer=1 epoch=0 group=GROUP txn=v-0 [in/0 @4]
3 2s validated/0 life 1 request OffsetCommit 1 group=GROUP [in/0 @4]
4 2s validated/0 life 1 reply OffsetCommit 1 not-done of=3 group=GROUP [in/0 @4 err=ILLEGAL_GENERATION]
`

const onlyBreaks = `
1 2s validated/0 life 1 request OffsetCommit 1 group=GROUP [in/0 @4]
2 2s validated/0 life 1 reply OffsetCommit 1 done of=1 group=GROUP [in/0 @4]
`

func checkPlainCommit(s step, f *findings) {
	for i := range s.answer.Parts {
		if p := &s.answer.Parts[i]; p.Err == "" {
			f.add(fmt.Sprintf("%s life %d committed %s without a transaction", s.ask.Proc,
				s.ask.Life, place(p.Topic, p.Partition, p.Offset)), s.ask.Seq, s.answer.Seq)
		}
	}
}
