package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// OrderPerPartition promises that order is kept: within each partition of the audited
// output, the committed records that were made from one partition of input come in
// the order of their origins, no origin twice.
//
// Each record is compared with the one before it, so a range that was written again
// is reported once, where it goes back. It cannot conclude anything without an audit,
// of records that do not say where they came from, of what retention took, nor of the
// order between two partitions of output. Data of transactions that were aborted or
// that nobody has ended do not count.
func OrderPerPartition(input, output string) Property {
	name := "order-per-partition/" + output
	return Property{
		Name: name,
		Says: "In each partition of " + output + " the committed records that were made from " +
			"one partition of " + input + " are in its order, none twice.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			for _, log := range openLedger(h).logs(output) {
				checkOrder(&log, input, &f)
			}
			return f.broken()
		},
		Holds:  text(orderHolds, "INPUT", input, "OUTPUT", output),
		Breaks: text(orderBreaks, "INPUT", input, "OUTPUT", output),
	}
}

const orderHolds = `
1 9s - observe log [OUTPUT/0 @0 end=3 {@0 from=INPUT/0@4} {@1 from=INPUT/1@3} {@2 from=INPUT/0@7}]
2 9s - observe log [OUTPUT/1 @0 end=1 {@0 from=INPUT/0@2}]
`

const orderBreaks = `
1 9s - observe log [OUTPUT/0 @0 end=2 {@0 from=INPUT/0@4} {@1 from=INPUT/0@3}]
`

func checkOrder(log *partitionLog, input string, f *findings) {
	last := make(map[int32]*model.Record)
	for r := range log.decided() {
		if r.From.Topic != input {
			continue
		}
		before := last[r.From.Partition]
		last[r.From.Partition] = r
		if before != nil && r.From.Offset <= before.From.Offset {
			f.add(fmt.Sprintf("%s comes from %s, after %s from %s",
				place(log.topic, log.partition, r.Offset),
				place(input, r.From.Partition, r.From.Offset),
				place(log.topic, log.partition, before.Offset),
				place(input, before.From.Partition, before.From.Offset)), log.seq)
		}
	}
}
