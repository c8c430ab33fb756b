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
		Name: "not-idempotent", Case: "S8",
		Says: "the producer writes without idempotence, several requests in flight: " +
			"a request whose reply was lost is appended again",
		World:  with(worlds.Player(), notIdempotent),
		Breaks: props.NoUnaskedAppend(worlds.Progress).Name,
	})
}

// notIdempotent is the right player with options that do without the permission to
// write idempotently.
func notIdempotent(ctx context.Context, env sim.Env) error {
	env.Kafka = append([]kgo.Opt{
		kgo.DisableIdempotentWrite(), // the mistake
		kgo.MaxProduceRequestsInflightPerBroker(5),
	}, env.Kafka...)
	return worlds.RunPlayer(ctx, env)
}
