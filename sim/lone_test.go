package sim

import (
	"testing"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestLone has two faults of which the first only brings about the life in which the
// second one strikes; neither can go, and the second one alone is in an earlier life.
func TestLone(t *testing.T) {
	pause := schedule.MustFault("pause p/0 life 1 at request OffsetCommit 1 for 12s")
	stop := schedule.MustFault("stop p/0 life 2 at reply OffsetCommit 1")
	first := schedule.MustFault("stop p/0 life 1 at reply OffsetCommit 1")
	fails := func(faults []schedule.Fault) bool {
		switch len(faults) {
		case 1:
			return faults[0] == first
		case 2:
			return faults[0] == pause && faults[1] == stop
		}
		return false
	}
	both := []schedule.Fault{pause, stop}
	if got := schedule.Shrink(both, fails, 100); len(got) != 2 {
		t.Fatalf("the shrinker found %v by itself: is lone still needed?", got)
	}
	if one := lone(both, fails); len(one) != 1 || one[0] != first {
		t.Errorf("found %v, want %v", one, first)
	}
	never := func([]schedule.Fault) bool { return false }
	if one := lone(both, never); one != nil {
		t.Errorf("found %v where there is none", one)
	}
	if one := lone(both[:1], fails); one != nil {
		t.Errorf("looked for less than one fault: %v", one)
	}
}
