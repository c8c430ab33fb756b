package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "sink-log-put", Case: "S29",
		Says: "the entries of the logs are put over whatever is there: one run on a checkpoint " +
			"replaces another's",
		World:  withProcess(tileTwins(), "tile", sinkLogPut().run),
		Breaks: props.BatchWrittenOnce(worlds.TilePrefix).Name,
	})
}

// sinkLogPut relies on there being one run.
func sinkLogPut() *tileJob {
	j := newTileJob()
	j.claim = func(ctx context.Context, l *tileLife, key string, body []byte) error {
		_, err := l.Objects.Put(ctx, key, body) // the mistake
		return err
	}
	return j
}
