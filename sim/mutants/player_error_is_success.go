package mutants

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "error-is-success", Case: "S9",
		Says:   "the application is told done when the promise resolves, whatever it says",
		World:  with(worlds.Player(), errorIsSuccess),
		Breaks: props.AckedIsStored(worlds.Progress).Name,
	})
}

func errorIsSuccess(ctx context.Context, env sim.Env) error {
	return answerer{reads: func(error) model.Outcome { return model.Done }}.run(ctx, env)
}

// answerer gives up early, so that no application waits for long.
type answerer struct {
	reads func(error) model.Outcome // what is made of a promise's error
}

func (a answerer) run(ctx context.Context, env sim.Env) error {
	player, err := newPlayer(env, 5*time.Second)
	if err != nil {
		return err
	}
	err = takeAsks(ctx, env.Inbox, func(ask sim.Ask, e hops.Progress) {
		player.Submit(e, func(_ hops.Receipt, err error) {
			env.Inbox.Answer(ask, a.reads(err))
		})
	})
	if err != nil {
		return err
	}
	return flush(ctx, player, nil)
}
