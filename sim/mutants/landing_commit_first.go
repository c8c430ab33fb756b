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
		Name: "commit-first", Case: "S1",
		Says:   "each batch is committed before its work is done",
		World:  with(landingOne(), commitFirst),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// landingOne is the world of one landing member: whatever goes wrong, it is not
// because there are two.
func landingOne() sim.World { return worlds.Landing("landing-one", worlds.Setup{Replicas: 1}) }

// commitFirst would not do anything twice.
func commitFirst(ctx context.Context, env sim.Env) error {
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		if err := c.commit(ctx, batch); err != nil { // the mistake: it comes too early
			return err
		}
		return c.landAll(ctx, batch)
	})
}
