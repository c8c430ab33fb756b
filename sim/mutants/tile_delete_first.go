package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "compact-delete-first", Case: "S26",
		Says: "a compaction of the sink log removes the entries that it has read before it " +
			"writes the one that stands for them",
		World:  withProcess(tileOne(), "tile", compactDeleteFirst().run),
		Breaks: props.CompactSafe(worlds.TilePrefix).Name,
	})
}

// compactDeleteFirst has the sink log in memory alone for a moment.
func compactDeleteFirst() *tileJob {
	j := newTileJob()
	j.compact = func(ctx context.Context, l *tileLife, key string) error {
		covered, files, err := l.state(ctx)
		if err != nil {
			return err
		}
		if err := l.remove(ctx, covered); err != nil { // the mistake: it comes too early
			return err
		}
		return l.job.claim(ctx, l, key, hops.AppendSinkLog(nil, append(files, l.files...)...))
	}
	return j
}
