package sim

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// house: real clock because a hang is what virtual time cannot see of itself.

// stuckAfter is how long one run may take in real time. Runs take milliseconds.
var stuckAfter = 60 * time.Second

// watch ends the program when a run does not, with every goroutine's stack. The
// function returned calls it off.
func watch(world string, s schedule.Schedule) (done func()) {
	timer := time.AfterFunc(stuckAfter, func() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(os.Stderr, "hopcheck: a run of world %s (seed %d) made no end within %v of "+
			"real time. A process that goes round and round when its client is closed or its "+
			"context is done stops virtual time, and so does one that waits for something "+
			"outside the run. The schedule and all goroutines:\n%s\n%s\n",
			world, s.Seed, stuckAfter, s, stacks)
		os.Exit(3)
	})
	return func() { timer.Stop() }
}
