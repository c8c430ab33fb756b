package props

import (
	"iter"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// decided yields the data records of a log that a reader of committed data gets: not
// those of a transaction that was aborted or that nobody has ended.
func (l *partitionLog) decided() iter.Seq[*model.Record] {
	return func(yield func(*model.Record) bool) {
		for i := range l.records {
			r := &l.records[i]
			if r.Kind == model.Data && !l.isOpen(r) && !yield(r) {
				return
			}
		}
	}
}

func (l *partitionLog) isOpen(r *model.Record) bool { return slices.Contains(l.open, r.Offset) }

// findOpen returns the offsets of the data of transactions that nobody has ended: at
// or above the last stable offset, with no control record of their producer above
// them. A producer without transactions writes no control record, so its data there
// count as open too.
func (l *partitionLog) findOpen() []int64 {
	if l.stable < 0 {
		return nil
	}
	var open, ended []int64
	for i := len(l.records) - 1; i >= 0 && l.records[i].Offset >= l.stable; i-- {
		switch r := &l.records[i]; {
		case r.Kind == model.CommitMarker || r.Kind == model.AbortMarker:
			ended = append(ended, r.Producer)
		case r.Kind == model.Data && r.Producer != 0 && !slices.Contains(ended, r.Producer):
			open = append(open, r.Offset)
		}
	}
	return open
}

// derived is one record of an output topic that says which record of an input topic
// it was made from.
type derived struct {
	from   model.Position
	log    *partitionLog
	record *model.Record
	sure   bool // committed, and still there
}

func (d derived) place() string { return place(d.log.topic, d.log.partition, d.record.Offset) }

// derivation is the records of an output topic by origin.
type derivation []derived

// derivation returns the records of output that were made from input, and whether what
// is not among them is nowhere. Not all are sure: of one that retention took only its
// Produce reply is known, and one of a transaction that nobody has ended may come to
// count or not.
func (l *ledger) derivation(input, output string) (derivation, bool) {
	var all derivation
	logs := l.logs(output)
	trimmed := false
	for i := range logs {
		log := &logs[i]
		trimmed = trimmed || log.start > 0
		for j := range log.records {
			r := &log.records[j]
			if r.Kind == model.Data && r.From.Topic == input {
				all = append(all, derived{r.From, log, r, !log.isOpen(r)})
			}
		}
	}
	if trimmed {
		for a := range appends(l.h, output) {
			log := logOf(logs, a.part.Partition)
			if log != nil && a.offset < log.start && a.record.From.Topic == input {
				all = append(all, derived{from: a.record.From, log: log, record: a.record})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b derived) int { return comparePositions(a.from, b.from) })
	return all, len(logs) > 0 && !l.logUnread(output)
}

// of returns the records that were made from the one at p.
func (d derivation) of(p model.Position) derivation {
	from, _ := slices.BinarySearchFunc(d, p, func(x derived, p model.Position) int {
		return comparePositions(x.from, p)
	})
	to := from
	for to < len(d) && d[to].from == p {
		to++
	}
	return d[from:to]
}

// sure returns those that are committed and still there.
func (d derivation) sure() derivation {
	if !slices.ContainsFunc(d, func(x derived) bool { return !x.sure }) {
		return d
	}
	var sure derivation
	for i := range d {
		if d[i].sure {
			sure = append(sure, d[i])
		}
	}
	return sure
}
