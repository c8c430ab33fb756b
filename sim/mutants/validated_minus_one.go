package mutants

import (
	"context"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "generation-minus-one", Case: "A11",
		Says: "the membership is kept by the rebalance listener, which clears it when " +
			"partitions go: what is under way then is committed under generation -1, which " +
			"no broker checks",
		World: withProcess(validatedTwo(), "validated", minusOne),
		Breaks: props.ExactlyOnce(
			worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name,
	})
}

// minusOne sends along what it believes to be. The report is
// evolution-gaming/kafka-flow#854.
func minusOne(ctx context.Context, env sim.Env) error {
	var gone atomic.Bool
	clear := func(context.Context, *kgo.Client, map[string][]int32) { gone.Store(true) }
	return pairing{
		as: func(polled membership) membership {
			if gone.Load() {
				return membership{"", -1} // the mistake: it should have nothing to say
			}
			return polled
		},
		options: []kgo.Opt{
			kgo.OnPartitionsAssigned(func(
				_ context.Context, _ *kgo.Client, came map[string][]int32,
			) {
				if len(came) > 0 {
					gone.Store(false)
				}
			}),
			kgo.OnPartitionsRevoked(clear), kgo.OnPartitionsLost(clear),
		},
	}.run(ctx, env)
}
