package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "replan", Case: "S25",
		Says: "a batch that was not committed is planned anew after a restart, with what the " +
			"log has by then",
		World:  withProcess(tileOne(), "tile", replan().run),
		Breaks: props.BatchWrittenOnce(worlds.TilePrefix).Name,
	})
}

// replan is right for a batch that nobody has seen. One that is in the sink log is
// skipped there, with the records that it has got.
func replan() *tileJob {
	j := newTileJob()
	j.again = func(ctx context.Context, l *tileLife) error {
		if err := l.log.poll(ctx); err != nil {
			return err
		}
		ranges, _ := l.log.ranges()
		l.plan = l.planOf(ranges) // the mistake
		_, err := l.Objects.Put(ctx, entryKey(tileOffsets, l.batch),
			hops.AppendBatchPlan(nil, l.plan))
		return err
	}
	return j
}
