package mutants

import (
	"context"
	"encoding/json"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "collapse-copies", Case: "S5",
		Says:  "an event whose id was seen before is taken for a duplicate and left out",
		World: with(landingOne(), collapseCopies),
		Breaks: props.ResendVisible(
			worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// collapseCopies remembers the ids that it stored for as long as it lives.
func collapseCopies(ctx context.Context, env sim.Env) error {
	seen := make(map[string]bool)
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		for _, r := range batch {
			var e hops.Progress
			_ = json.Unmarshal(r.Value, &e) // a reject may have no id, and is not left out
			if e.EventID != "" && seen[e.EventID] {
				continue // the mistake: it is another offset
			}
			if err := c.land(ctx, r); err != nil {
				return err
			}
			seen[e.EventID] = true
		}
		return c.commit(ctx, batch)
	})
}
