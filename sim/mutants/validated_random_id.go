package mutants

import (
	"context"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	w := withProcess(validatedOne(), "validated", newIDEachLife)
	w.Verbs = killVerbs
	register(Mutant{
		Name: "random-transactional-id", Case: "A12",
		Says: "every start makes up a transactional id, so that nobody ends the transaction " +
			"that a dead program left open",
		World:  w,
		Breaks: props.LSOProgress(worlds.ValidatedTopic, time.Second).Name,
	})
}

// killVerbs are the faults of a program that dies: one that is only paused holds its
// transaction open under any id.
var killVerbs = []string{"crash"}

// longTimeout is a transaction timeout as who has slow batches asks for it. Under a
// stable id it does not matter to a program that dies: its next start ends the
// transaction at once.
const longTimeout = 10 * time.Minute

// newIDEachLife is new with each life, as the name of a container is; a random one
// would do the same, but not twice. The report is twmb/franz-go#581.
func newIDEachLife(ctx context.Context, env sim.Env) error {
	return copying{
		id:      env.Instance + "-" + strconv.Itoa(env.Life), // the mistake
		timeout: longTimeout,
	}.run(ctx, env)
}
