package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// OneWinner promises that of several lives on one checkpoint, each batch has one
// winner and losers give way: writes to the sink log that take effect for one batch are
// of one life; and a life that was refused a conditional write to a log of the tile,
// since other content stands there, writes to none of the three logs any more. The
// tile is below prefix, without a slash at its end.
//
// A refusal by the same content is the echo of a write whose answer was lost, and means
// nothing. A refusal counts if its answer was delivered; what stands there is known
// from the writes that took effect. A write is one more only if the life had not asked
// for the same bytes before: an earlier try of the same call may come late. A write to
// the sink log that comes when a compact file has replaced its batch wins nothing.
//
// It cannot conclude that the loser ended, or told anyone, nor that the winner's batch
// is right.
func OneWinner(prefix string) Property {
	name := "one-winner/" + prefix
	return Property{
		Name: name,
		Says: "Of lives that run the tile " + prefix + " one wins each batch, " +
			"and one that found another's content writes to its logs no more.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			t := openTile(h, prefix)
			checkWinners(t, &f)
			checkLosers(t, &f)
			return f.broken()
		},
		Holds:  tileText(winnerHolds, "t", prefix),
		Breaks: tileText(winnerBreaks, "t", prefix),
	}
}

const winnerHolds = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @0 end=5]
2 2s tile/0 life 1 return putif 2 unknown key=SINK-A digest=d2 (PART-A 100)
3 2s tile/0 life 1 return putif 3 not-done err=precondition key=SINK-A digest=d2 (PART-A 100)
4 3s tile/1 life 1 return putif 1 not-done err=precondition key=SINK-A digest=d3 (PART-B 100)
5 4s tile/0 life 1 return putif 4 done key=COMMIT-A digest=d4
6 5s tile/1 life 2 return putif 1 done key=PLAN-B digest=d5 [TOPIC/0 @5 end=7]
`

const winnerBreaks = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @0 end=5]
2 1s tile/1 life 1 return putif 1 not-done err=precondition key=PLAN-A digest=d2 [TOPIC/0 @0 end=4]
3 2s tile/0 life 1 return putif 2 done key=SINK-A digest=d3 (PART-A 100)
4 3s tile/1 life 1 return put 2 done key=SINK-A digest=d4 (PART-B 100)
`

func checkWinners(t *tileLog, f *findings) {
	winners := make(map[int64]*tileWrite)
	for _, w := range t.writes {
		if w.log != tileSink || w.covered {
			continue
		}
		won := winners[w.batch]
		if won == nil {
			winners[w.batch] = w
		} else if lifeOf(won.ask) != lifeOf(w.ask) {
			f.add(fmt.Sprintf("batch %d was won by %s and by %s", w.batch, won.by(), w.by()),
				won.ask.Seq, w.ask.Seq, w.answer.Seq)
		}
	}
}

func checkLosers(t *tileLog, f *findings) {
	lost := make(map[life]*tileRefusal)
	for _, r := range t.refused {
		other := r.there.ask != nil && r.there.ask.Digest != r.ask.Digest
		if by := lifeOf(r.ask); other && r.answer.Outcome != model.Unknown && lost[by] == nil {
			lost[by] = r
		}
	}
	for _, w := range t.writes {
		by := lifeOf(w.ask)
		r := lost[by]
		if r == nil || w.first < r.answer.Seq {
			continue
		}
		lost[by] = nil // once is enough
		f.add(fmt.Sprintf("%s wrote %s after %s had been refused, where %s had written "+
			"other content", w.by(), w.ask.Key, r.ask.Key, lifeText(lifeOf(r.there.ask))),
			r.there.ask.Seq, r.ask.Seq, r.answer.Seq, w.ask.Seq, w.answer.Seq)
	}
}
