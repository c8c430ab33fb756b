package mutants

import (
	"context"
	"fmt"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "state-alone", Case: "S35",
		Says: "the monitor calls for a slot that is lost or will be, and takes one that is " +
			"reserved for fine, whatever it holds back",
		World: withProcess(enrollmentDown(), "monitor", watch(func(state string, _ int64) bool {
			return state != "reserved" // the mistake: the disk is full before that
		})),
		Breaks: props.SlotAlert(worlds.SlotLimit, worlds.SlotWithin).Name,
	})
}

// overLimit says whether a slot is in danger.
func overLimit(state string, retained int64) bool {
	return state != "reserved" || retained > worlds.SlotLimit
}

// watch is a monitor as people write their first one: it calls once for each time that
// the slot is bad, and exits at the first error, so that the supervisor starts it again.
func watch(bad func(state string, retained int64) bool) func(context.Context, sim.Env) error {
	const every = 5 * time.Minute
	return func(ctx context.Context, env sim.Env) error {
		for told := false; ctx.Err() == nil; pause(ctx, every) {
			state, retained, _, err := env.Database.Slot(ctx)
			if err != nil {
				return err
			}
			is := bad(state, retained)
			if is && !told {
				says := fmt.Sprintf("it is %s, and holds back %d bytes", state, retained)
				env.Alert(hops.AlertSlotLimit, says)
			}
			told = is
		}
		return nil
	}
}
