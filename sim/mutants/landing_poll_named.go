package mutants

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "poll-named", Case: "A6",
		Says:   "an object holds, and is named by, the range of offsets that one poll brought",
		World:  with(landingOne(), pollNamed),
		Breaks: props.OneObjectPerOffset(worlds.Progress).Name,
	})
}

// pollNamed stores, then commits; a rerun from the same offset polls another range.
// The reports are confluentinc/kafka-connect-storage-cloud#93 and #341.
func pollNamed(ctx context.Context, env sim.Env) error {
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		if err := c.bury(ctx, batch...); err != nil {
			return err
		}
		first, last := batch[0], batch[len(batch)-1]
		// The mistake: where a poll ends is chance, and the name depends on it.
		key := fmt.Sprintf("%s-%020d",
			hops.ObjectKey(first.Topic, first.Partition, first.Offset), last.Offset)
		if _, err := c.Objects.Put(ctx, key, hops.AppendBody(nil, linesOf(batch)...)); err != nil {
			return err
		}
		return c.commit(ctx, batch)
	})
}
