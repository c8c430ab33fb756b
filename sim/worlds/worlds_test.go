//go:build synctests

package worlds

import (
	"flag"
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

var schedulesFlag = flag.Int("worlds.schedules", 150,
	"how many random schedules the right hops of each world must survive; "+
		"below 500, heavy worlds get a third")

var conformFlag = flag.Bool("worlds.conform", true,
	"judge too whether histories are behaviours of the specifications")

// thorough is how many schedules must show the rare things too, which TestSeen shows
// one by one.
const thorough = 5000

// TestRightHops runs every world with its right hops: no promise may break.
func TestRightHops(t *testing.T) {
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			w := e.World
			if !*conformFlag {
				w = WithoutConformance(w)
			}
			if *schedulesFlag >= thorough && e.Name == "validated" {
				w.Sometimes = append(slices.Clone(w.Sometimes), props.SometimesFenced(),
					props.SometimesStaleGeneration(),
					props.SometimesRebalanceInTransaction(ValidatedGroup))
			}
			schedules := *schedulesFlag
			if e.Heavy && schedules < 500 {
				schedules = max(1, schedules/3)
			}
			sim.Check(t, w, sim.Schedules(schedules))
		})
	}
}
