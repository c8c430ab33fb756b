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
		Name: "acks-zero", Case: "S8",
		Says: "the producer asks for no acknowledgement, and takes a written request for a " +
			"stored record",
		World:  with(worlds.Player(), acksZero),
		Breaks: props.AckedIsStored(worlds.Progress).Name,
	})
}

// acksZero is the right player with options that win some latency.
func acksZero(ctx context.Context, env sim.Env) error {
	env.Kafka = append([]kgo.Opt{
		kgo.RequiredAcks(kgo.NoAck()), // the mistake
		kgo.DisableIdempotentWrite(),  // the client insists: idempotence needs all acks
	}, env.Kafka...)
	return worlds.RunPlayer(ctx, env)
}
