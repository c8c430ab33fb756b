package mutants

import (
	"context"
	"fmt"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "window-named", Case: "S27",
		Says: "a part is named after its window: so is the part of a later batch with a late " +
			"event, which takes its place",
		World:  withProcess(tileOne(), "tile", windowNamed().run),
		Breaks: props.TileExact(worlds.Progress, worlds.TilePrefix).Name,
	})
}

// windowNamed would have a rerun replace its own parts.
func windowNamed() *tileJob {
	j := newTileJob()
	j.steps[0] = func(l *tileLife, ctx context.Context) error {
		if l.named() {
			return nil
		}
		for from := 0; from < len(l.rows); {
			start, to := l.rows[from].WindowStart, from
			for to < len(l.rows) && l.rows[to].WindowStart == start {
				to++
			}
			name := fmt.Sprintf("window-%d", start) // the mistake: it is not the batch's own
			if err := l.writePart(ctx, name, l.rows[from:to]); err != nil {
				return err
			}
			from = to
		}
		return nil
	}
	return j
}
