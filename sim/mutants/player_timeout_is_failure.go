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
		Name: "timeout-is-failure", Case: "A2",
		Says: "a write that timed out counts as failed and goes to a spool, which sends it " +
			"later under an id of its own, while the first copy still arrives",
		World:  with(worlds.Player(), timeoutIsFailure),
		Breaks: props.Identity(worlds.Progress).Name,
	})
}

func timeoutIsFailure(ctx context.Context, env sim.Env) error {
	return spooler{again: mintID}.run(ctx, env)
}

// spooler waits a little for each event and puts aside what takes longer. The
// report is segmentio/kafka-go#1427: the end of the writer's context ends the wait,
// not the request that is under way.
type spooler struct {
	again func(*hops.Progress) // what is done to an event that is put aside
}

func (s spooler) run(ctx context.Context, env sim.Env) error {
	return publishEach(ctx, env, 30*time.Second, s.publish)
}

func (s spooler) publish(ctx context.Context, player *hops.Player, e hops.Progress) error {
	const (
		patience = 2 * time.Second // for the first attempt, virtual
		later    = 4 * time.Second // until the spool's turn, virtual
	)
	all := context.WithoutCancel(ctx)
	write, cancel := context.WithTimeout(all, patience)
	defer cancel()
	if _, err := player.Send(write, e); err == nil {
		return nil
	}
	pause(ctx, later)
	s.again(&e)
	_, err := player.Send(all, e)
	return err
}
