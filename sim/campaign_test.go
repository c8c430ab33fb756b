//go:build synctests

package sim_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

func campaign(t *testing.T, c sim.Campaign) *sim.Report {
	t.Helper()
	r, err := c.Run(t)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRightHopHolds(t *testing.T) {
	r := campaign(t, sim.Campaign{World: copierWorld(2, copier), Seed: 3, Schedules: 200})
	if r.Failure != nil {
		t.Fatal(r.Failure.Message("not saved"))
	}
	// The runs without faults, from which the campaign learns the world, count.
	if r.Schedules != 200 || r.Faults < 100 || len(r.Kills) < 10 || r.VirtualS < 2000 {
		t.Errorf("%d schedules, %d faults, kills at %d events, %.0f s: too little to prove a thing",
			r.Schedules, r.Faults, len(r.Kills), r.VirtualS)
	}
}

func TestWrongHopIsCaught(t *testing.T) {
	runs := 0
	w := copierWorld(2, hasty)
	input := w.Input
	w.Input = func(rng *rand.Rand) []sim.Input {
		runs++
		return input(rng)
	}
	r := campaign(t, sim.Campaign{World: w, Mutant: "hasty", Seed: 3})
	f := r.Failure
	if f == nil {
		t.Fatalf("held for %d schedules", r.Schedules)
	}
	if f.Promise != "stored/in" || f.Says != stored.Says || len(f.Broken) == 0 {
		t.Errorf("promise %s (%q), broken: %v", f.Promise, f.Says, f.Broken)
	}
	if n := len(f.Schedule.Faults); n != 1 {
		t.Errorf("shrunk to %d faults:\n%s", n, f.Schedule)
	}
	if f.Agreed != 5 || f.Same < 4 || f.Replays != 5 { // docs/decisions/0003
		t.Errorf("agreed %d, same %d of %d", f.Agreed, f.Same, f.Replays)
	}
	if f.Nth != r.Schedules || len(f.Found.Faults) < 1 {
		t.Errorf("found as number %d of %d with %d faults", f.Nth, r.Schedules, len(f.Found.Faults))
	}
	if s := f.Schedule; s.World != "copier" || s.Mutant != "hasty" ||
		s.Digest != f.Result.History.Digest() {
		t.Errorf("schedule:\n%s", s)
	}
	// The budgets: rapid's shrinking, ours, and the replays.
	if most := r.Schedules + 60 + 200 + 5; runs > most || runs <= r.Schedules+5 {
		t.Errorf("%d runs for %d schedules, of at most %d", runs, r.Schedules, most)
	}
	again, err := sim.Replay(t, w, f.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Same || again.Broke < 1 || again.Failure(w, f.Schedule) == nil {
		t.Errorf("replay: same %v at try %d, broke %d", again.Same, again.Tries, again.Broke)
	}
}

// always is a promise that every history breaks.
func always(name string) props.Property {
	return props.Property{
		Name: name, Says: "Nothing ever happens.",
		Check: func(h *model.History) []props.Broken {
			return []props.Broken{{Witness: "something happened", Seqs: []int64{1, int64(h.Len())}}}
		},
	}
}

// TestCanary proves that a broken promise comes out, whatever the world does.
func TestCanary(t *testing.T) {
	w := copierWorld(1, copier)
	w.Promises = append(w.Promises, always("canary"))
	r := campaign(t, sim.Campaign{World: w, Seed: 5})
	f := r.Failure
	if f == nil || r.Schedules != 1 || f.Nth != 1 || len(f.Schedule.Faults) != 0 {
		t.Fatalf("%d schedules, failure %+v", r.Schedules, f)
	}
	if f.Agreed != 5 || f.Same != 5 {
		t.Errorf("agreed %d, same %d of 5", f.Agreed, f.Same)
	}
	text := f.Message("type this")
	for _, want := range []string{
		"broken: canary: Nothing ever happens.\n", "  something happened\n",
		"(0 faults; drawn with 0, as number 1)", "  > 1 0s ", "replay: type this\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the message lacks %q:\n%s", want, text)
		}
	}
}

// TestTarget has two promises that break, of which one is looked for.
func TestTarget(t *testing.T) {
	w := copierWorld(1, copier)
	w.Promises = []props.Property{always("first"), always("second")}
	r := campaign(t, sim.Campaign{World: w, Target: "second"})
	if r.Failure == nil || r.Failure.Promise != "second" {
		t.Errorf("failure: %+v", r.Failure)
	}
	r = campaign(t, sim.Campaign{World: w, Target: "third", Schedules: 10})
	if r.Failure != nil || r.Schedules != 10 {
		t.Errorf("%d schedules, failure: %+v", r.Schedules, r.Failure)
	}
}

func TestProgressStops(t *testing.T) {
	calls := 0
	w := copierWorld(1, copier)
	r := campaign(t, sim.Campaign{World: w, Progress: func(r *sim.Report) bool {
		if calls++; r.Schedules != calls {
			t.Errorf("call %d: %d schedules", calls, r.Schedules)
		}
		return calls < 4
	}})
	if calls != 4 || r.Schedules != 4 || !r.Stopped {
		t.Errorf("%d calls, %d schedules, stopped: %v", calls, r.Schedules, r.Stopped)
	}
	r = campaign(t, sim.Campaign{World: w, Progress: func(*sim.Report) bool { return false }})
	if r.Schedules != 1 || !r.Stopped {
		t.Errorf("%d schedules, stopped: %v; the first run can be the last", r.Schedules, r.Stopped)
	}
}

func TestCounts(t *testing.T) {
	w := copierWorld(1, copier)
	w.Verbs = []string{"crash"}
	w.Sometimes = []props.Sometimes{
		{Name: "crash", Seen: func(h *model.History) bool {
			return len(events(h, "copier/0", model.Crash)) > 0
		}},
		{Name: "never", Seen: func(*model.History) bool { return false }},
	}
	w.Walked = func(h *model.History) map[string]int {
		steps := map[string]int{"run": 1}
		for i := range h.Events() {
			if h.Events()[i].Kind == model.Crash {
				steps["crash"]++
			}
		}
		return steps
	}
	w.Evidence = []props.Evidence{{Name: "crashes", Count: func(h *model.History) int {
		return len(events(h, "copier/0", model.Crash))
	}}}
	r := campaign(t, sim.Campaign{World: w, Seed: 9, Schedules: 20})
	kills := 0
	for _, n := range r.Kills {
		kills += n
	}
	if r.Walked["run"] != r.Schedules || r.Walked["crash"] != kills {
		t.Errorf("walked %v in %d schedules with %d kills", r.Walked, r.Schedules, kills)
	}
	if kills == 0 || kills != r.Evidence["crashes"] || kills != r.Faults {
		t.Errorf("%d kills, %d in the histories, %d faults", kills, r.Evidence["crashes"], r.Faults)
	}
	if seen := r.Seen["crash"]; seen < 10 || seen > 20 || r.Seen["never"] != 0 {
		t.Errorf("seen: %v", r.Seen)
	}
}

func TestSameSeedSameReport(t *testing.T) {
	for _, hop := range []sim.World{copierWorld(2, copier), copierWorld(2, hasty)} {
		c := sim.Campaign{World: hop, Seed: 11, Schedules: 25}
		one, two := campaign(t, c), campaign(t, c)
		if diff := cmp.Diff(summary(one), summary(two)); diff != "" {
			t.Errorf("the same seed gave another report:\n%s", diff)
		}
		c.Seed++
		if diff := cmp.Diff(summary(one), summary(campaign(t, c))); diff == "" {
			t.Error("another seed gave the same report")
		}
	}
}

// summary is what a report says, by and large.
func summary(r *sim.Report) []any {
	all := []any{r.Schedules, r.Faults, r.Kills, r.Seen, r.Evidence}
	if f := r.Failure; f != nil {
		f.Schedule.Digest = "" // one run in a hundred may differ: docs/decisions/0003
		all = append(all, f.Found.String(), f.Schedule.String(), f.Promise, f.Broken)
	}
	return all
}

func TestMerge(t *testing.T) {
	failure := &sim.Failure{Promise: "p"}
	one := sim.Report{
		World: "w", Schedules: 1, Faults: 2, VirtualS: 3, Kills: map[string]int{"a": 1},
		Seen: map[string]int{"s": 1}, Evidence: map[string]int{"e": 1},
		Walked: map[string]int{"poll": 1},
	}
	two := sim.Report{
		World: "w", Schedules: 10, Faults: 20, VirtualS: 30, Kills: map[string]int{"a": 1, "b": 2},
		Seen: map[string]int{"s": 1}, Evidence: map[string]int{"f": 1}, Failure: failure,
		Walked: map[string]int{"poll": 2, "put": 1}, Stopped: true,
	}
	var sum sim.Report // as one of no schedules
	sum.Merge(&one)
	sum.Merge(&two)
	sum.Merge(&sim.Report{Failure: &sim.Failure{Promise: "later"}})
	want := sim.Report{
		Schedules: 11, Faults: 22, VirtualS: 33, Kills: map[string]int{"a": 2, "b": 2},
		Seen: map[string]int{"s": 2}, Evidence: map[string]int{"e": 1, "f": 1},
		Walked: map[string]int{"poll": 3, "put": 1}, Stopped: true,
	}
	if sum.Failure != failure {
		t.Errorf("failure: %v", sum.Failure)
	}
	sum.Failure = nil
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
	if len(one.Kills) != 1 || one.Kills["a"] != 1 {
		t.Errorf("merging changed what was merged: %v", one.Kills)
	}
}

// TestFlagsAreRestored looks at rapid's flags, which are the process's.
func TestFlagsAreRestored(t *testing.T) {
	flags := func() map[string]string {
		all := make(map[string]string)
		flag.VisitAll(func(f *flag.Flag) { all[f.Name] = f.Value.String() })
		return all
	}
	before := flags()
	campaign(t, sim.Campaign{World: copierWorld(1, copier), Seed: 77, Schedules: 3})
	if diff := cmp.Diff(before, flags()); diff != "" {
		t.Errorf("flags (-before +after):\n%s", diff)
	}
	if before["rapid.checks"] == "" {
		t.Error("rapid has no such flags any more")
	}
}
