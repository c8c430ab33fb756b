package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "tile-commit-first", Case: "S24",
		Says:   "a batch is committed to the checkpoint before the sink log names its files",
		World:  withProcess(tileOne(), "tile", tileCommitFirst().run),
		Breaks: props.TileExact(worlds.Progress, worlds.TilePrefix).Name,
	})
}

// tileCommitFirst would not run a batch twice.
func tileCommitFirst() *tileJob {
	j := newTileJob()
	j.steps = []func(*tileLife, context.Context) error{
		(*tileLife).part, (*tileLife).commit, (*tileLife).name, // the mistake: name comes last
	}
	return j
}
