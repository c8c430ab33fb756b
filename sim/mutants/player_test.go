//go:build synctests

package mutants

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// playerMutants returns the mutants of hop 1.
func playerMutants() []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		return m.World.Processes[0].Name != "player"
	})
}

// TestPlayerCaught hunts each mutant with random schedules: the promise that it
// names must catch it, for every seed.
func TestPlayerCaught(t *testing.T) {
	for _, m := range playerMutants() {
		t.Run(m.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
				caught(t, m, seed)
			}
		})
	}
}

// TestPlayerSaved looks for a saved schedule of each mutant.
func TestPlayerSaved(t *testing.T) {
	for _, m := range playerMutants() {
		if _, err := schedule.Load(scheduleOf(m)); err != nil {
			t.Error(err)
		}
	}
}

// TestSavedSchedules runs every schedule in testdata: it breaks the promise of its
// mutant, and none with the right hop of the same world.
func TestSavedSchedules(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.schedule")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := schedule.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Named(s.Mutant)
			if err != nil {
				t.Fatal(err)
			}
			if s.World != m.World.Name || path != scheduleOf(m) {
				t.Errorf("it is of mutant %q in world %q", s.Mutant, s.World)
			}
			if got := verdict(t, m.World, s); !slices.Contains(got, m.Breaks) {
				t.Errorf("the mutant breaks %v, not %s", got, m.Breaks)
			}
			right, err := worlds.Named(s.World)
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(t, right.World, s); len(got) > 0 {
				t.Errorf("the right hop breaks %v", got)
			}
		})
	}
}

// TestAcksZeroLoses looks at what the saved schedule shows: an event in a request
// that never arrived was answered with done and is nowhere.
func TestAcksZeroLoses(t *testing.T) {
	m, err := Named("acks-zero")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Load(scheduleOf(m))
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(t, m.World, s)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(take func(*model.Event) bool) map[string]bool {
		found := make(map[string]bool)
		for i := range res.History.Events() {
			e := &res.History.Events()[i]
			for _, part := range e.Parts {
				for _, r := range part.Records {
					found[r.ID] = found[r.ID] || take(e)
				}
			}
		}
		return found
	}
	lost := ids(func(e *model.Event) bool {
		return e.Kind == model.Request && e.Op == "Produce" && e.Outcome == model.NotDone
	})
	stored := ids(func(e *model.Event) bool { return e.Kind == model.Observe })
	done := ids(func(e *model.Event) bool {
		return e.Kind == model.Note && e.Op == "answer" && e.Outcome == model.Done
	})
	for id := range lost {
		if lost[id] && done[id] && !stored[id] {
			return
		}
	}
	t.Error("no event of the lost request was answered with done")
}

// TestPlayerControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake.
func TestPlayerControl(t *testing.T) {
	same := func(*hops.Progress) {}
	for _, c := range []struct {
		name string
		run  func(context.Context, sim.Env) error
	}{
		{"answerer", answerer{reads: worlds.OutcomeOf}.run},
		{"resender", resender{again: same}.run},
		{"spooler", spooler{again: same}.run},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(worlds.Player(), c.run)
			report, err := sim.Campaign{World: w, Seed: 1, Schedules: *controlFlag}.Run(t)
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failure; f != nil {
				t.Error("\n" + f.Message("none"))
			}
		})
	}
}
