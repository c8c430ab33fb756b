package specs_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// twoPhaseStates is published for TLC, SPIN and Stateright alike.
var twoPhaseStates = []struct {
	managers int
	states   int64
}{{3, 288}, {5, 8832}, {7, 296_448}, {8, 1_745_408}, {9, 10_340_352}}

func TestTwoPhaseCounts(t *testing.T) {
	for _, c := range twoPhaseStates {
		for i, engine := range []check.Engine{check.Fingerprint, check.Exact} {
			if c.managers == 9 && testing.Short() {
				continue
			}
			o := check.Options{Engine: engine, Workers: 1 + (i+c.managers)%2}
			got := check.Check(specs.TwoPhase(c.managers), o)
			if got.Verdict != check.Held || got.States != c.states {
				t.Errorf("%d managers, %s, %d workers: %s with %d states, want held with %d",
					c.managers, engine, o.Workers, got.Verdict, got.States, c.states)
			}
		}
	}
}

// TestTwoPhaseEarly breaks agreement in the fewest steps: all but one of three
// prepare and are heard, the decision is taken, the last gives up, one obeys.
func TestTwoPhaseEarly(t *testing.T) {
	for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
		got := check.Check(specs.TwoPhaseEarly(3), check.Options{Engine: engine})
		if got.Verdict != check.Broken || got.Violation.Promise != check.Always {
			t.Fatalf("%s: %s, want broken", engine, got.Verdict)
		}
		if got.Violation.Depth != 7 || len(got.Trace) != 8 {
			t.Errorf("%s: %d steps to depth %d, want 7: %v",
				engine, len(got.Trace)-1, got.Violation.Depth, got.Trace)
		}
	}
}
