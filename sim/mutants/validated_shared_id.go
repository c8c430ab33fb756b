package mutants

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "shared-transactional-id", Case: "S14",
		Says: "the transactional id is a constant of the program, two members of it run, and " +
			"whoever is fenced takes the id back",
		World: withProcess(
			worlds.Validated("validated-twins", worlds.ValidatedSetup{Replicas: 2, Twins: true}),
			"validated", sharedID),
		Breaks: props.EpochsBounded(1, time.Minute).Name,
	})
}

// sharedID is the deployment of that world with a program that does not give way. The
// right one does, and the other member carries on. Two that do not fence each other
// for ever, and nothing comes of it. With a supervisor that starts who was fenced
// again, later and later, it would be the same at its pace.
func sharedID(ctx context.Context, env sim.Env) error {
	return copying{id: "validator"}.reinitialising(ctx, env) // the mistake
}
