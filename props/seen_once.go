package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// SeenOnce promises that what is made once is seen once: of all the committed offsets
// of output that processes whose name begins with proc noted as seen, no two were made
// from the same record of an input. The same offset may be seen again, by a later
// life or another process.
//
// It concludes that a consumer counts an input twice, from what it saw alone. A record
// that does not say where it came from is not judged. Only an audit tells that an
// offset was aborted, and then it does not count: without one, or where it did not
// read the partition, every seen offset counts as committed. That everything is seen
// is not promised.
func SeenOnce(output, proc string) Property {
	name := "seen-once/" + output
	return Property{
		Name: name,
		Says: "Each record from which " + output + " was made is seen by " + proc +
			" at one committed offset at most.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkSeenOnce(openLedger(h), output, proc, &f)
			return f.broken()
		},
		Holds:  text(seenOnceHolds, "OUTPUT", output, "READER", proc+"/0"),
		Breaks: text(seenOnceBreaks, "OUTPUT", output, "READER", proc+"/0"),
	}
}

const seenOnceHolds = `
1 1s READER life 1 note seen [OUTPUT/0 {@0 id=ev-1 from=in/0@5}]
2 2s READER life 1 note seen [OUTPUT/0 {@2 id=ev-1 from=in/0@6}]
3 3s READER life 2 note seen [OUTPUT/0 {@2 id=ev-1 from=in/0@6}]
`

const seenOnceBreaks = `
1 1s READER life 1 note seen [OUTPUT/0 {@0 id=ev-1 from=in/0@5}]
2 2s READER life 2 note seen [OUTPUT/1 {@0 id=ev-1 from=in/0@5}]
`

func checkSeenOnce(l *ledger, output, proc string, f *findings) {
	logs := l.logs(output)
	first := make(map[model.Position]note)
	for n := range seen(l.h, output, []string{proc}) {
		from := n.record.From
		if from == (model.Position{}) {
			continue
		}
		if log := logOf(logs, n.partition); log != nil {
			if r := log.at(n.record.Offset); r != nil && (r.Kind != model.Data || log.isOpen(r)) {
				continue
			}
		}
		was, ok := first[from]
		switch {
		case !ok:
			first[from] = n
		case was.partition != n.partition || was.record.Offset != n.record.Offset:
			f.add(fmt.Sprintf("%s (id %s) was seen at %s by %s and at %s by %s",
				place(from.Topic, from.Partition, from.Offset), n.record.ID,
				place(output, was.partition, was.record.Offset), was.event.Proc,
				place(output, n.partition, n.record.Offset), n.event.Proc),
				was.event.Seq, n.event.Seq)
		}
	}
}
