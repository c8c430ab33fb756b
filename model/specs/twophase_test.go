package specs_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

func TestTwoPhaseCounts(t *testing.T) {
	for managers, want := range map[int]int64{3: 288, 5: 8832, 7: 296448} {
		got := check.Check(specs.TwoPhase(managers), check.Options{})
		if got.Verdict != check.Held || got.States != want {
			t.Errorf("with %d managers: %s with %d states, want held with %d",
				managers, got.Verdict, got.States, want)
		}
	}
}

func TestTwoPhaseEarlyIsFound(t *testing.T) {
	got := check.Check(specs.TwoPhaseEarly(3), check.Options{})
	if got.Verdict != check.Broken || got.Violation.Promise != check.Always {
		t.Fatalf("%s, want broken", got.Verdict)
	}
	if steps := len(got.Trace) - 1; steps != got.Violation.Depth {
		t.Errorf("%d steps to depth %d: %v", steps, got.Violation.Depth, got.Trace)
	}
}
