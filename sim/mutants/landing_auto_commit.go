package mutants

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "auto-commit", Case: "S2",
		Says: "records are gathered in memory for a moment, while the client commits by " +
			"itself what was polled",
		World:  with(landingOne(), autoCommit),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// autoCommit lands what it gathered twice a second, and when it is asked to end.
func autoCommit(ctx context.Context, env sim.Env) error {
	const (
		gather = 500 * time.Millisecond // virtual
		every  = time.Second            // between two commits of the client, virtual
	)
	var gathered []*kgo.Record
	var landed time.Time
	landGathered := func(ctx context.Context, c *consumer) error {
		if err := c.landAll(ctx, gathered); err != nil {
			return err
		}
		// house: virtual clock because this runs in a bubble, where time.Now is the world's.
		gathered, landed = nil, time.Now()
		return nil
	}
	return loop{
		do: func(_ context.Context, _ *consumer, batch []*kgo.Record) error {
			gathered = append(gathered, batch...)
			return nil // the mistake: the next poll tells the client that these are done
		},
		tick: func(ctx context.Context, c *consumer) error {
			if time.Since(landed) < gather {
				return nil
			}
			return landGathered(ctx, c)
		},
		end:     landGathered,
		options: []kgo.Opt{kgo.AutoCommitInterval(every)},
	}.run(ctx, env)
}
