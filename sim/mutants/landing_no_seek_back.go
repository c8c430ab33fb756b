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
		Name: "no-seek-back", Case: "A7",
		Says: "a batch that the store rejects is not committed, but the loop goes on, and " +
			"the commit of the next batch passes it",
		World:  with(landingOne(), noSeekBack),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// noSeekBack thinks that what is not committed is polled again. The report is
// vectordotdev/vector#24543: what the sink rejects goes neither there nor to a
// dead-letter topic.
func noSeekBack(ctx context.Context, env sim.Env) error {
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		if err := c.landAll(ctx, batch); err != nil {
			c.Alert("batch-failed", err.Error())
			return nil // the mistake: the client's position is past the batch
		}
		return c.commit(ctx, batch)
	})
}
