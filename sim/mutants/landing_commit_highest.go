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
		Name: "commit-highest", Case: "A3",
		Says: "records are stored side by side, and the highest offset that is done is " +
			"committed, whatever is open below it",
		World: with(landingOne(), commitHighest),
		Breaks: props.CommitWithinResolved(
			worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// commitHighest marks each record as it is done; a put that failed is tried again
// until it succeeds. The report is vectordotdev/vector#24215: the put of 2 fails, 3
// is done, the commit says 4.
func commitHighest(ctx context.Context, env sim.Env) error {
	const every = time.Second // between two commits of the client, virtual
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		for _, r := range batch {
			c.open.Go(func() {
				if c.insist(ctx, r) == nil {
					c.MarkCommitRecords(r) // the mistake: a mark is for all below, too
				}
			})
		}
		return nil
	}, kgo.AutoCommitMarks(), kgo.AutoCommitInterval(every))
}
