package specs_test

import (
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// TestKnown: an exploration knows the steps that the engine counts, and sorts each into
// the classes of states.
func TestKnown(t *testing.T) {
	for _, e := range specs.All() {
		t.Run(e.Name, func(t *testing.T) {
			known, err := e.Known(nil, 200_000)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Check(e.Small(), "", check.Options{Actions: true})
			if err != nil {
				t.Fatal(err)
			}
			if int64(known.States) != min(r.States, 200_000) {
				t.Fatalf("%d states, whole %t, want %d", known.States, known.Whole, r.States)
			}
			if !known.Whole {
				t.Skip("too many states to know them all")
			}
			in := make(map[string]int64) // steps of an action, over all classes
			for _, c := range known.Classes {
				action, class, ok := strings.Cut(c.Action, " @ ")
				if !ok || class == "" || c.Steps == 0 {
					t.Errorf("class %+v", c)
				}
				in[action] += c.Steps
			}
			taken := make(map[string]int64)
			for _, a := range r.Actions {
				taken[a.Action] += a.Steps
			}
			for _, u := range e.Untold {
				delete(taken, u)
			}
			for _, a := range known.Actions {
				if len(known.Classes) > 0 && a.Steps > in[a.Action] {
					t.Errorf("%s: %d steps, in classes %d", a.Action, a.Steps, in[a.Action])
				}
				taken[a.Action] -= a.Steps
			}
			for action, n := range taken {
				if n != 0 {
					t.Errorf("%s: %d steps are missing", action, n)
				}
			}
		})
	}
	e, err := specs.Named("landing")
	if err != nil {
		t.Fatal(err)
	}
	few, err := e.Known(map[string]int{"members": 1}, 100)
	if err != nil || few.Whole || few.States != 100 {
		t.Errorf("100 states: %d, whole %t, %v", few.States, few.Whole, err)
	}
	for _, c := range few.Classes {
		if strings.Contains(c.Action, "two owners") {
			t.Errorf("one member: %s", c.Action)
		}
	}
	if _, err := e.Known(map[string]int{"members": 9}, 100); err == nil {
		t.Error("nine members go through")
	}
}
