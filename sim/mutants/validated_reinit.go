package mutants

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

func init() {
	register(Mutant{
		Name: "reinitialise", Case: "S15",
		Says: "who was fenced makes a new client with the same transactional id and goes on, " +
			"which fences the one who owns it now",
		World:  withProcess(validatedTwo(), "validated", reinitialise),
		Breaks: props.FencedStops().Name,
	})
}

func reinitialise(ctx context.Context, env sim.Env) error {
	return copying{}.reinitialising(ctx, env)
}

// reinitialising takes a fence for a connection that broke.
func (o copying) reinitialising(ctx context.Context, env sim.Env) error {
	for {
		err := o.run(ctx, env)
		if !errors.Is(err, kerr.ProducerFenced) && !errors.Is(err, kerr.InvalidProducerEpoch) {
			return err
		}
		pause(ctx, 100*time.Millisecond) // the mistake: it should end here
	}
}
