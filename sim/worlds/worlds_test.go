//go:build synctests

package worlds

import (
	"flag"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
)

var schedulesFlag = flag.Int("worlds.schedules", 150,
	"how many random schedules the right hops of each world must survive")

// TestRightHops runs every world with its right hops: no promise may break.
func TestRightHops(t *testing.T) {
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			sim.Check(t, e.World, sim.Schedules(*schedulesFlag))
		})
	}
}
