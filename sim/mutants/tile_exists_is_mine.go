package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "exists-is-mine", Case: "S28",
		Says: "an entry that is there already is taken for one's own, of which the reply was " +
			"lost, whatever it says",
		World:  withProcess(tileTwins(), "tile", existsIsMine().run),
		Breaks: props.OneWinner(worlds.TilePrefix).Name,
	})
}

// existsIsMine goes on with its own ranges where another run has won the batch.
func existsIsMine() *tileJob {
	j := newTileJob()
	j.claim = func(ctx context.Context, l *tileLife, key string, body []byte) error {
		_, _, err := l.Objects.PutIf(ctx, key, body, "") // the mistake: a refusal is no success
		return err
	}
	return j
}
