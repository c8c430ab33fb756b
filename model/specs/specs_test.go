package specs_test

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

var fullFlag = flag.Bool("specs.full", false,
	"explore the right specifications at their full bounds, not at those of a fast test")

// TestSpecificationsHold explores every specification without a bug.
func TestSpecificationsHold(t *testing.T) {
	for _, e := range specs.All() {
		t.Run(e.Name, func(t *testing.T) {
			set := e.Small()
			if *fullFlag {
				set = nil
			}
			start := time.Now()
			clock := func() time.Duration { return time.Since(start) }
			r, err := e.Check(set, "", check.Options{Actions: true, Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d transitions, depth %d, %.1f s, %.2f M states/s",
				r.States, r.Transitions, r.Depth, r.Seconds, r.Rate/1e6)
			if r.Verdict != "held" {
				t.Fatalf("%s: %s%s\n%s", r.Verdict, r.Broken, r.Why, lines(r.Steps))
			}
			if r.Quiescent == 0 {
				t.Error("it never comes to rest: what must be true then was never asked")
			}
		})
	}
}

// TestVariantsHold explores landing with block naming, with late puts, and with stops.
func TestVariantsHold(t *testing.T) {
	e, err := specs.Named("landing")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ small, full map[string]int }{
		{map[string]int{"records": 3, "block": 2, "crashes": 1},
			map[string]int{"block": 3}},
		{map[string]int{"records": 2, "late": 1, "crashes": 1},
			map[string]int{"records": 4, "late": 1}},
		{map[string]int{"records": 3, "stops": 1, "crashes": 0, "rebalances": 0},
			map[string]int{"records": 4, "stops": 2}},
	} {
		set := c.small
		if *fullFlag {
			set = c.full
		}
		start := time.Now()
		r, err := e.Check(set, "", check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %d states, depth %d, %.1f s", set, r.States, r.Depth,
			time.Since(start).Seconds())
		if r.Verdict != "held" {
			t.Errorf("%v: %s: %s%s\n%s", set, r.Verdict, r.Broken, r.Why, lines(r.Steps))
		}
	}
}

// TestBugsAreFound gives every specification each of its mistakes.
func TestBugsAreFound(t *testing.T) {
	for _, e := range specs.All() {
		for _, b := range e.Bugs {
			t.Run(e.Name+"/"+b.Name, func(t *testing.T) {
				r, err := e.Check(nil, b.Name, check.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != "broken" || r.Why != "" {
					t.Fatalf("%s after %d states (%s), want broken", r.Verdict, r.States, r.Why)
				}
				if len(r.Steps) == 0 {
					t.Fatal("it has no counterexample")
				}
				t.Logf("%d states: %s\n%s", r.States, r.Broken, lines(r.Steps))
			})
		}
	}
}

func lines(steps []specs.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

func TestNamed(t *testing.T) {
	e, err := specs.Named("twophase-5")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Check(nil, "", check.Options{})
	if err != nil || r.States != 8832 || r.Spec != "twophase" {
		t.Errorf("%s has %d states (%v), want 8832 of twophase", r.Spec, r.States, err)
	}
	for name, want := range map[string]string{
		"landin":      `did you mean "landing"`,
		"twophase-11": "want 1 to 10",
		"landing-3":   `there is no specification "landing-3"`,
		"x":           "there are ",
	} {
		if _, err := specs.Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestWrongUse(t *testing.T) {
	e, err := specs.Named("landing")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  map[string]int
		bug  string
		want string
	}{
		{map[string]int{"record": 3}, "", `did you mean "records"`},
		{map[string]int{"records": 0}, "", "want 1 to"},
		{nil, "commit-frist", `did you mean "commit-first"`},
	} {
		if _, err := e.Check(c.set, c.bug, check.Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %q: %v, want %q", c.set, c.bug, err, c.want)
		}
	}
	err = e.Graph(&bytes.Buffer{}, specs.GraphOptions{Format: "dott", Bound: 10})
	if err == nil || !strings.Contains(err.Error(), `did you mean "dot"`) {
		t.Errorf("format dott: %v", err)
	}
}

func TestGraph(t *testing.T) {
	e, err := specs.Named("twophase-3")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[specs.Format]string{
		specs.DOT: "digraph", specs.Aldebaran: "des (0,1145,288)", specs.JSON: `"states":[`,
	} {
		var b bytes.Buffer
		if err := e.Graph(&b, specs.GraphOptions{Format: format, Bound: 288}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: %.60q, want %q in it", format, b.String(), want)
		}
	}
	small := specs.GraphOptions{Format: specs.DOT, Bound: 287}
	if err := e.Graph(&bytes.Buffer{}, small); err == nil {
		t.Error("288 states in a bound of 287")
	}
}
