package mutants

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "commit-last", Case: "S7",
		Says: "the offset of the last record that is done is committed, instead of the next " +
			"one to read",
		World:  with(landingOne(), commitLast),
		Breaks: props.Drains(worlds.Progress, worlds.LandingGroup).Name,
	})
}

// commitLast does the last record again after every restart. The names of its
// objects absorb that, so what gives it away is a group that never gets to the end.
func commitLast(ctx context.Context, env sim.Env) error {
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		if err := c.landAll(ctx, batch); err != nil {
			return err
		}
		last := batch[len(batch)-1]
		return c.commitAt(ctx, last, last.Offset) // the mistake: one short
	})
}
