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
		Name: "new-id", Case: "S11",
		Says:   "an event that is sent again is built again, and gets another event id",
		World:  with(worlds.Player(), newID),
		Breaks: props.Identity(worlds.Progress).Name,
	})
}

func newID(ctx context.Context, env sim.Env) error {
	return resender{again: mintID}.run(ctx, env)
}

// mintID is the mistake: a reader can no longer tell the copy from a new event.
func mintID(e *hops.Progress) { e.EventID = hops.NewEventID() }

// resender sends each event until it is acknowledged, a few times at most, and
// tells the application what came of the last time.
type resender struct {
	again func(*hops.Progress) // what is done to an event that is sent again
}

func (r resender) run(ctx context.Context, env sim.Env) error {
	return publishEach(ctx, env, 5*time.Second, r.publish)
}

func (r resender) publish(ctx context.Context, player *hops.Player, e hops.Progress) error {
	const tries = 5
	var err error
	for range tries {
		if _, err = player.Send(context.WithoutCancel(ctx), e); err == nil {
			return nil
		}
		pause(ctx, time.Second)
		r.again(&e)
	}
	return err
}
