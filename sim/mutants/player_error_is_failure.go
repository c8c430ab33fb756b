package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "error-is-failure", Case: "S9",
		Says:   "the application is told not done when the promise has an error, whatever it says",
		World:  with(worlds.Player(), errorIsFailure),
		Breaks: props.NotDoneIsSo(worlds.Progress).Name,
	})
}

// errorIsFailure reads unknown as "not done", the root of most public reports in
// this field.
func errorIsFailure(ctx context.Context, env sim.Env) error {
	return answerer{reads: func(err error) model.Outcome {
		if err != nil {
			return model.NotDone // the mistake
		}
		return model.Done
	}}.run(ctx, env)
}
