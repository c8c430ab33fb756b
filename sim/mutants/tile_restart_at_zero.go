package mutants

import (
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "restart-at-zero", Case: "A8",
		Says: "a checkpoint that is gone counts as a new one: batch numbers restart below " +
			"those of the sink log, which skips them as done",
		World:  withProcess(tileLost(), "tile", restartAtZero().run),
		Breaks: props.RangesTouch(worlds.Progress, worlds.TilePrefix).Name,
	})
}

// restartAtZero plans what the sink log has under other ranges. The report is
// kb.databricks.com/streaming/file-sink-streaming.
func restartAtZero() *tileJob {
	j := newTileJob()
	j.ahead = func(*tileLife) error { return nil } // the mistake
	return j
}
