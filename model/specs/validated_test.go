package specs

import (
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
)

// TestValidatedBeforeKIP890: the older transaction protocol keeps the promises too, as
// long as nothing arrives after it was given up. If something does, a transaction can
// be left that nobody ends: that promise alone is judged here, since another one is
// broken first.
func TestValidatedBeforeKIP890(t *testing.T) {
	spec, err := Validated(map[string]int{"records": 2, "kip890": 0})
	if err != nil {
		t.Fatal(err)
	}
	if r := check.Check(spec, check.Options{}); r.Verdict != check.Held {
		t.Errorf("%s: %v", r.Verdict, r.Violation)
	}
	spec, err = Validated(map[string]int{"records": 1, "kip890": 0, "late": 1})
	if err != nil {
		t.Fatal(err)
	}
	spec.Always = nil
	r := check.Check(spec, check.Options{})
	if r.Verdict != check.Broken ||
		!strings.Contains(r.Violation.Err.Error(), "last stable offset") {
		t.Fatalf("%s: %+v", r.Verdict, r.Violation)
	}
	for i := range r.Trace[1:] {
		t.Log(i+1, sayValidated(&r.Trace[i].State, &r.Trace[i+1]))
	}
}

// TestValidatedTakesEveryStep: an action that is never possible would break nothing.
func TestValidatedTakesEveryStep(t *testing.T) {
	const actions = 36
	taken := make(map[string]bool)
	for _, kip890 := range []int{0, 1} {
		for _, bug := range []string{"", sideBefore, sideAfter} {
			v, _, err := entries["validated"].values(
				map[string]int{"records": 2, "late": 1, "kip890": kip890}, "")
			if err != nil {
				t.Fatal(err)
			}
			spec := newValidated(v, bug).spec()
			spec.Always, spec.Quiescent = nil, nil
			for _, a := range check.Check(spec, check.Options{Actions: true}).Actions {
				taken[a.Action] = true
			}
		}
	}
	if len(taken) != actions {
		t.Errorf("%d actions, want %d: %v", len(taken), actions, sortedKeys(taken))
	}
	for action := range taken {
		step := check.Step[ValidatedState]{Action: action, Who: 0}
		if says := sayValidated(&ValidatedState{}, &step); says == step.String() {
			t.Errorf("%q has no words", action)
		}
	}
}
