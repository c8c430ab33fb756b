package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// BatchWrittenOnce promises that what a tile has written of a batch stays: at most one
// write to the sink log takes effect for each batch, be it of N or of N.compact, and
// the plan of a batch never gets another content. The tile is below prefix, without a
// slash at its end.
//
// It concludes that somebody wrote without a condition, or planned a batch anew that was
// in the sink log, even after the first plan was removed. A write to the sink log that
// comes when a compact file has replaced its batch is none: a slow put of a life that is
// long over changes nothing that readers see. Where an operator has removed a plan, one
// is no second plan that such a life puts there, or that comes before the sink log has
// the batch.
//
// It cannot tell the hop's writes from those of an actor who tears or restores a log.
func BatchWrittenOnce(prefix string) Property {
	name := "batch-written-once/" + prefix
	return Property{
		Name: name,
		Says: "Each batch of the tile " + prefix + " is written to the sink log once at most, " +
			"and its plan never gets another content.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkWrittenOnce(openTile(h, prefix), &f)
			return f.broken()
		},
		Holds:  tileText(writtenHolds, "t", prefix),
		Breaks: tileText(writtenBreaks, "t", prefix),
	}
}

const writtenHolds = `
1 1s tile/0 life 1 return putif 1 unknown key=PLAN-A digest=d1 [TOPIC/0 @0 end=5]
2 1s tile/0 life 1 return putif 2 not-done err=precondition key=PLAN-A digest=d1 [TOPIC/0 @0 end=5]
3 2s tile/0 life 1 return putif 3 done key=SINK-A digest=d2 (PART-A 100)
4 3s tile/1 life 1 return putif 1 not-done err=precondition key=SINK-A digest=d3 (PART-B 100)
5 4s tile/0 life 1 return putif 4 done key=COMPACT-B digest=d4 (PART-A 100)
6 5s tile/0 life 1 return delete 1 done key=SINK-A
7 6s tile/1 life 2 return putif 1 unknown key=SINK-A digest=d5 (PART-B 100)
`

const writtenBreaks = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @0 end=5]
2 2s tile/0 life 2 return put 1 done key=PLAN-A digest=d2 [TOPIC/0 @0 end=7]
3 3s tile/0 life 2 return put 2 done key=SINK-A digest=d3 (PART-A 100)
4 4s tile/1 life 1 return put 1 done key=SINK-A digest=d4 (PART-B 100)
`

func checkWrittenOnce(t *tileLog, f *findings) {
	plans, entries := make(map[int64]*tileWrite), make(map[int64]*tileWrite)
	for _, w := range t.writes {
		switch {
		case w.log == tilePlans && !w.stray:
			lost := w.anew && entries[w.batch] == nil // nobody can know that there was one
			if was := plans[w.batch]; was != nil && !lost && was.ask.Digest != w.ask.Digest {
				f.add(fmt.Sprintf("%s wrote another plan of batch %d: %s over %s", w.by(), w.batch,
					rangesText(w.ranges("")), rangesText(was.ranges(""))),
					was.ask.Seq, w.ask.Seq, w.answer.Seq)
			}
			plans[w.batch] = w
		case w.log == tileSink && !w.covered:
			if was := entries[w.batch]; was != nil {
				f.add(fmt.Sprintf("batch %d was written to the sink log again: %s by %s, "+
					"after %s by %s", w.batch, w.ask.Key, w.by(), was.ask.Key, was.by()),
					was.ask.Seq, w.ask.Seq, w.answer.Seq)
			}
			entries[w.batch] = w
		}
	}
}
