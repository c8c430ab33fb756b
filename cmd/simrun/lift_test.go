package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/mutants"
)

// TestLift: the counterexample of every bug that names a mutant breaks what the mutant
// must break, in every fresh process, and nothing with the right program.
func TestLift(t *testing.T) {
	for _, e := range specs.All() {
		if !slices.ContainsFunc(e.Bugs, func(b specs.Bug) bool { return b.Mutant != "" }) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			out, stderr, status := runProgram(t, "check", e.Name, "--small", "--bugs", "--lift",
				"--json")
			if status != 0 {
				t.Errorf("status %d: %s", status, stderr)
			}
			lines := json.NewDecoder(strings.NewReader(out))
			for range len(e.Bugs) + 1 {
				var l specLine
				if err := lines.Decode(&l); err != nil {
					t.Fatalf("%v in:\n%s", err, out)
				}
				if l.Bug != "" {
					wantLifted(t, l)
				}
			}
		})
	}
}

func wantLifted(t *testing.T, l specLine) {
	t.Helper()
	want := confirmed
	if l.Mutant == "" {
		want = noMutant
	}
	switch {
	case l.Lift == nil || l.Lift.Verdict != want:
		t.Errorf("%s with %s: want %s, got %+v", l.Name, l.Bug, want, l.Lift)
	case want == confirmed && (l.Lift.Agreed != l.Lift.Replays || l.Lift.Right != held):
		t.Errorf("%s with %s: broken in %d of %d fresh processes, the right program %s:\n%s",
			l.Name, l.Bug, l.Lift.Agreed, l.Lift.Replays, l.Lift.Right, l.Lift.Schedule)
	case want == confirmed:
		t.Logf("%s: try %d, %s; without faults %s\n%s", l.Bug, l.Lift.Tries, l.Lift.Looked,
			l.Lift.Plain, l.Lift.Schedule)
	}
}

// TestLiftNotReproduced: a counterexample that is not one of the mutant's says so, and
// why.
func TestLiftNotReproduced(t *testing.T) {
	if !sim.Simulates {
		t.Skip("this build cannot simulate")
	}
	t.Setenv(asProgram, "1")
	f, err := newFleet(1)
	if err != nil {
		t.Fatal(err)
	}
	r := specs.Report{
		Spec: "landing", Bug: "commit-first", Verdict: broken, Mutant: "commit-first",
		Liftable: true, // and nothing has to go wrong, which is not so
	}
	l, err := liftOne(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	if l.Verdict != notReproduced || l.Tries != liftSeeds || l.Idle != 0 || !l.missed() ||
		!strings.Contains(l.Why, "the promise held") {
		t.Errorf("got %+v", l)
	}
	r.Lifted = []string{"crash landing/0 life 9 after call put 1"}
	m, err := mutants.Named(r.Mutant)
	if err != nil {
		t.Fatal(err)
	}
	around, err := neighbourhood(m.World, r)
	if err != nil {
		t.Fatal(err)
	}
	l = lift{Promise: m.Breaks}
	found, err := l.search(t.Context(), f,
		scene{World: m.World.Name, Mutant: m.Name}, around[:3])
	if err != nil || found != nil || l.Idle != 3 {
		t.Errorf("a life that never comes: %v, %v, %+v", found, err, l)
	}
	var b bytes.Buffer
	printLifts(&b, false, []specs.Report{r}, []lift{l})
	if b.Len() > 0 {
		t.Errorf("nothing was lifted, and it says %s", &b)
	}
}

// TestNeighbourhood: the lifted schedule comes first, no schedule twice, and none names
// an occurrence or a replica that there cannot be.
func TestNeighbourhood(t *testing.T) {
	m, err := mutants.Named("zombie-overwrite")
	if err != nil {
		t.Fatal(err)
	}
	r := specs.Report{
		Lifted:    []string{"pause landing/0 life 1 at call put 1 for 50s"},
		LiftedEnd: "crash landing/1 life 1 after request OffsetCommit 2",
	}
	all, err := neighbourhood(m.World, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != mostTries || all[0].String() != "as lifted" ||
		fmt.Sprint(all[0].faults) != fmt.Sprint(r.Lifted) {
		t.Errorf("%d schedules, the first %s: %v", len(all), all[0], all[0].faults)
	}
	seen := make(map[string]bool)
	var turned, ended, timed bool
	for i, a := range all {
		key := fmt.Sprint(a.seed, a.faults)
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		turned = turned || strings.Contains(key, "pause landing/1")
		ended = ended || strings.Contains(key, "landing/1 life 1 after request OffsetCommit 3")
		timed = timed || strings.Contains(key, "for 12s")
		for _, f := range a.faults {
			if f.At().Nth < 1 || f.At().Life < 1 {
				t.Errorf("%s: there is no such event", f)
			}
		}
		if i > 0 && a.distance() < all[i-1].distance() {
			t.Errorf("%s comes after %s", a, all[i-1])
		}
	}
	if !turned || !ended || !timed {
		t.Errorf("the other replica %t, the end %t, another duration %t", turned, ended, timed)
	}
	one, err := mutants.Named("commit-first")
	if err != nil {
		t.Fatal(err)
	}
	all, err = neighbourhood(one.World, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		for _, f := range a.faults {
			if f.At().Proc != "landing/0" {
				t.Fatalf("the world has one member: %s", f)
			}
		}
	}
	r.Lifted = []string{"crash landing/0 life 1 after moon put 1"}
	if _, err := neighbourhood(m.World, r); err == nil {
		t.Error("a line that is no fault goes through")
	}
}
