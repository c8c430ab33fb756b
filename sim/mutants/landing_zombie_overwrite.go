package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "zombie-overwrite", Case: "A5",
		Says: "a block is stored as it is in memory, over whatever the store has: a member " +
			"that was evicted puts back a shorter one",
		World:  with(landingBlock(), zombieOverwrite),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// zombieOverwrite relies on the group to have one owner per partition. The reports
// are confluentinc/kafka-connect-storage-cloud#800 and #253.
func zombieOverwrite(ctx context.Context, env sim.Env) error {
	w := newBlockWriter()
	w.store = func(ctx context.Context, c *consumer, b *block) error {
		_, err := c.Objects.Put(ctx, b.key, hops.AppendBody(nil, b.lines...)) // the mistake
		return err
	}
	return w.run(ctx, env)
}
