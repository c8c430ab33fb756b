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
		Name: "dlq-error-ignored", Case: "S4",
		Says:   "a reject that could not be dead-lettered is logged and committed",
		World:  with(landingOne(), dlqErrorIgnored),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// dlqErrorIgnored does not let rejects stand in the way of good records.
func dlqErrorIgnored(ctx context.Context, env sim.Env) error {
	const patience = 5 * time.Second // for the dead-letter topic, virtual
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		for _, r := range batch {
			err := c.land(ctx, r)
			if err != nil && lineOf(r).Reject != "" {
				c.Alert("dlq-failed", err.Error())
				err = nil // the mistake
			}
			if err != nil {
				return err
			}
		}
		return c.commit(ctx, batch)
	}, kgo.DisableAutoCommit(), kgo.RecordDeliveryTimeout(patience))
}
