package props

import (
	"fmt"
	"iter"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// NoAbortedVisible promises that readers see nothing of a transaction that did not
// commit, and everything in order: no offset of output that a process noted as seen
// is, as the audit found, data of an aborted or never ended transaction, or a control
// record; and what one life sees of a partition ascends. Processes are those whose
// name begins with one of procs, or all where none is given: leave out a reader that
// shall see what is not committed.
//
// It concludes that a reader did not read committed data only, or that a broker
// handed out more. It cannot conclude anything of offsets that retention took, of
// partitions that the audit did not read, nor whether a reader saw all: only their
// order is judged without an audit. A life that begins again below what it saw, since
// it was given a partition back or reads the whole topic twice, is out of order.
func NoAbortedVisible(output string, procs ...string) Property {
	name := "no-aborted-visible/" + output
	return Property{
		Name: name,
		Says: "No reader of " + output + " sees a record of a transaction that did not commit, " +
			"or a control record, and each life sees a partition in ascending order.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkVisible(openLedger(h), output, procs, &f)
			return f.broken()
		},
		Holds:  text(visibleHolds, "OUTPUT", output, "READER", firstOr(procs, "reader")+"/0"),
		Breaks: text(visibleBreaks, "OUTPUT", output, "READER", firstOr(procs, "reader")+"/0"),
	}
}

const visibleHolds = `
1 1s READER life 1 note seen [OUTPUT/0 {@2 id=ev-1}]
2 2s READER life 2 note seen [OUTPUT/0 {@2 id=ev-1}]
3 9s - observe log [OUTPUT/0 @0 end=4 {@0 aborted id=ev-1} {@1 abort} {@2 id=ev-1} {@3 commit}]
`

const visibleBreaks = `
1 1s READER life 1 note seen [OUTPUT/0 {@0 id=ev-1}]
2 2s READER life 1 note seen [OUTPUT/0 {@2 id=ev-1}]
3 9s - observe log [OUTPUT/0 @0 end=4 {@0 aborted id=ev-1} {@1 abort} {@2 id=ev-1} {@3 commit}]
`

func firstOr(list []string, otherwise string) string {
	if len(list) > 0 {
		return list[0]
	}
	return otherwise
}

// hasPrefix reports whether a process has one of the prefixes, or there are none.
func hasPrefix(proc string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(proc, p) {
			return true
		}
	}
	return len(prefixes) == 0
}

// seen yields what the processes that procs names noted as seen of a topic.
func seen(h *model.History, topic string, procs []string) iter.Seq[note] {
	return func(yield func(note) bool) {
		for n := range notes(h, "seen") {
			if n.topic == topic && hasPrefix(n.event.Proc, procs) && !yield(n) {
				return
			}
		}
	}
}

func checkVisible(l *ledger, output string, procs []string, f *findings) {
	type view struct {
		life
		partition int32
	}
	logs := l.logs(output)
	last := make(map[view]note)
	for n := range seen(l.h, output, procs) {
		at := place(output, n.partition, n.record.Offset)
		by := view{lifeOf(n.event), n.partition}
		if before, ok := last[by]; ok && n.record.Offset <= before.record.Offset {
			f.add(fmt.Sprintf("%s life %d saw %s after %s", by.proc, by.number, at,
				place(output, n.partition, before.record.Offset)), before.event.Seq, n.event.Seq)
		}
		last[by] = n
		log := logOf(logs, n.partition)
		if log == nil {
			continue
		}
		r := log.at(n.record.Offset)
		switch {
		case r == nil:
		case r.Kind != model.Data:
			f.add(fmt.Sprintf("%s life %d saw %s, which is %s",
				by.proc, by.number, at, standing(r)), n.event.Seq, log.seq)
		case log.isOpen(r):
			f.add(fmt.Sprintf("%s life %d saw %s, which is id %s of a transaction that never "+
				"ended", by.proc, by.number, at, r.ID), n.event.Seq, log.seq)
		}
	}
}
