package mutants

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "no-flush", Case: "S10",
		Says:   "asked to stop, the player exits with success and drops what it has buffered",
		World:  with(worlds.Player(), noFlush),
		Breaks: props.NoSilentDrop().Name,
	})
}

// noFlush answers with the true outcome, for as long as it lives.
func noFlush(ctx context.Context, env sim.Env) error {
	player, err := newPlayer(env, 30*time.Second)
	if err != nil {
		return err
	}
	return takeAsks(ctx, env.Inbox, func(ask sim.Ask, e hops.Progress) {
		player.Submit(e, func(_ hops.Receipt, err error) {
			env.Inbox.Answer(ask, worlds.OutcomeOf(err))
		})
	})
	// The mistake: nothing here.
}
