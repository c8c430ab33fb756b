//go:build synctests

package worlds

import (
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestKnown runs schedules under which a right hop breaks a promise because kfake
// differs from Apache Kafka. One that no longer does is good news: then its
// decision record, and what it made us leave out, can go.
func TestKnown(t *testing.T) {
	for file, breaks := range map[string]string{
		"player-epoch-bump": "no-unasked-append/" + Progress, // docs/decisions/0006
	} {
		s, err := schedule.Load("testdata/" + file + ".schedule")
		if err != nil {
			t.Fatal(err)
		}
		e, err := Named(s.World)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t, e.World, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := sim.Verdict(r.Broken); !slices.Contains(got, breaks) {
			t.Errorf("%s: %v broken, not %s: has kfake changed?", file, got, breaks)
		}
	}
}
