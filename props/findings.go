package props

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// mostWitnesses bounds what one promise reports: a run in which everything is
// lost shall print a screenful, not a book.
const mostWitnesses = 10

// findings gathers the ways in which one history breaks one promise.
type findings struct {
	promise string
	list    []Broken
}

// add takes one way. A seq of 0 is "no such event" and left out.
func (f *findings) add(witness string, seqs ...int64) {
	seqs = slices.DeleteFunc(seqs, func(seq int64) bool { return seq == 0 })
	slices.Sort(seqs)
	f.list = append(f.list, Broken{
		Promise: f.promise, Witness: witness, Seqs: slices.Compact(seqs),
	})
}

// broken returns the findings in the order of their first witness, the last one
// saying how many were left out.
func (f *findings) broken() []Broken {
	slices.SortStableFunc(f.list, func(a, b Broken) int {
		return cmp.Compare(firstSeq(a), firstSeq(b))
	})
	more := len(f.list) - mostWitnesses
	if more <= 0 {
		return f.list
	}
	list := f.list[:mostWitnesses]
	list[mostWitnesses-1].Witness += fmt.Sprintf(" (and %d more like it)", more)
	return list
}

func firstSeq(b Broken) int64 {
	if len(b.Seqs) == 0 {
		return 0
	}
	return b.Seqs[0]
}

// place names one offset as histories do.
func place(topic string, partition int32, offset int64) string {
	return fmt.Sprintf("%s/%d@%d", topic, partition, offset)
}

// standing says what a record is, for a witness; nil is nothing.
func standing(r *model.Record) string {
	switch {
	case r == nil:
		return "nothing"
	case r.Kind == model.Data:
		return "id " + r.ID
	case r.Kind == model.Aborted:
		return "id " + r.ID + " of an aborted transaction"
	}
	return "a control record"
}
