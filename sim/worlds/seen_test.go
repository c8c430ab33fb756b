//go:build synctests

package worlds

import (
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestSeen shows in one run each what a campaign of the validated world must have
// seen, the rare ones too, and that the right hop keeps every promise meanwhile.
func TestSeen(t *testing.T) {
	e, err := Named("validated")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		seen  props.Sometimes
		seed  uint64
		fault string
	}{
		{props.SometimesAborted(ValidatedTopic), 77, ""},
		{props.SometimesRebalanceInTransaction(ValidatedGroup), 4096, ""},
		{props.SometimesLostEnd(), 874895, "lose validated/1 life 1 reply EndTxn 1"},
		{props.SometimesFenced(), 637952, "pause validated/1 life 1 at reply Produce 1 for 50s"},
		{props.SometimesStaleGeneration(), 246778,
			"delay validated/1 life 1 reply ListOffsets 1 by 35s"},
	} {
		s := schedule.Schedule{World: e.Name, Seed: c.seed}
		if c.fault != "" {
			s.Faults = append(s.Faults, schedule.MustFault(c.fault))
		}
		r, err := sim.Run(t, e.World, s)
		if err != nil {
			t.Fatal(err)
		}
		if !c.seen.Seen(r.History) {
			t.Errorf("not seen: %s\n%s", c.seen.Says, s)
		}
		if broken := sim.Verdict(r.Broken); len(broken) > 0 {
			t.Errorf("%s broke\n%s", strings.Join(broken, ", "), s)
		}
	}
}
