//go:build synctests

package mutants

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

var (
	seedsFlag = flag.Int("mutants.seeds", 1,
		"with how many seeds each landing mutant must be caught")
	replaysFlag = flag.Int("mutants.replays", 0,
		"how often each shrunk schedule is run again, beside what a campaign does by itself")
	controlFlag = flag.Int("mutants.control", 40,
		"how many schedules the landing consumers without a mistake must survive")
	saveFlag = flag.Uint64("mutants.save", 0,
		"save the shrunk schedules that this seed finds of the landing mutants in testdata")
)

// bounds returns how many schedules it may take to catch a mutant, and how many
// faults the shrunk schedule may have. A transaction takes more to go wrong: somebody
// must be evicted in the middle of one.
func bounds(m Mutant) (within, mostFaults int) {
	if strings.HasPrefix(m.World.Name, "validated") {
		return 500, 3
	}
	return 300, 2
}

// landingMutants returns the mutants of hop 2.
func landingMutants() []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		return m.World.Processes[0].Name != "landing"
	})
}

func scheduleOf(m Mutant) string { return filepath.Join("testdata", m.Name+".schedule") }

// TestLandingCaught hunts each mutant with random schedules: the promise that it
// names must catch it, for every seed.
func TestLandingCaught(t *testing.T) {
	for _, m := range landingMutants() {
		t.Run(m.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
				caught(t, m, seed)
			}
		})
	}
}

func caught(t *testing.T, m Mutant, seed uint64) {
	t.Helper()
	within, mostFaults := bounds(m)
	report, err := sim.Campaign{
		World: m.World, Mutant: m.Name, Target: m.Breaks, Seed: seed, Schedules: within,
	}.Run(t)
	if err != nil {
		t.Fatal(err)
	}
	f := report.Failure
	if f == nil {
		t.Errorf("seed %d: %s did not break in %d schedules", seed, m.Breaks, report.Schedules)
		return
	}
	if len(f.Schedule.Faults) > mostFaults {
		t.Errorf("seed %d: %d faults after shrinking, want at most %d:\n%s",
			seed, len(f.Schedule.Faults), mostFaults, f.Schedule)
	}
	agreed, replays := f.Agreed, f.Replays
	for range *replaysFlag {
		res, err := sim.Run(t, m.World, f.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		replays++
		if slices.Equal(sim.Verdict(res.Broken), sim.Verdict(f.Result.Broken)) {
			agreed++
		}
	}
	if agreed < replays {
		t.Errorf("seed %d: the shrunk schedule broke %s in %d of %d replays:\n%s",
			seed, m.Breaks, agreed, replays, f.Schedule)
	}
	t.Logf("%s seed %d: schedule %d, %d faults of %d, replayed %d/%d, breaks %v\n%s",
		m.Case, seed, f.Nth, len(f.Schedule.Faults), len(f.Found.Faults), agreed, replays,
		sim.Verdict(f.Result.Broken), f.Schedule)
	if seed == *saveFlag {
		if err := f.Schedule.Save(scheduleOf(m)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLandingSchedules runs the saved schedules: each breaks its promise with the
// mutant, and none with the right hop of the same world.
func TestLandingSchedules(t *testing.T) {
	for _, m := range landingMutants() {
		t.Run(m.Name, func(t *testing.T) {
			s, err := schedule.Load(scheduleOf(m))
			if err != nil {
				t.Fatal(err)
			}
			if s.World != m.World.Name || s.Mutant != m.Name {
				t.Errorf("the schedule is of mutant %q in world %q", s.Mutant, s.World)
			}
			if got := verdict(t, m.World, s); !slices.Contains(got, m.Breaks) {
				t.Errorf("the mutant breaks %v, not %s", got, m.Breaks)
			}
			right, err := worlds.Named(m.World.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(t, right.World, s); len(got) > 0 {
				t.Errorf("the right hop breaks %v", got)
			}
		})
	}
}

func verdict(t *testing.T, w sim.World, s schedule.Schedule) []string {
	t.Helper()
	res, err := sim.Run(t, w, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Unfired {
		t.Logf("never struck: %s", f)
	}
	return sim.Verdict(res.Broken)
}

// TestLandingControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake.
func TestLandingControl(t *testing.T) {
	plain := func(ctx context.Context, env sim.Env) error { return consume(ctx, env, land) }
	blocks := func(ctx context.Context, env sim.Env) error {
		return newBlockWriter().run(ctx, env)
	}
	for _, c := range []struct {
		name  string
		world sim.World
	}{
		{"plain", with(landingOne(), plain)},
		{"plain of two", with(worlds.Landing("landing", worlds.Setup{Replicas: 2}), plain)},
		{"blocks", with(landingBlock(), blocks)},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := sim.Campaign{World: c.world, Seed: 1, Schedules: *controlFlag}.Run(t)
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failure; f != nil {
				t.Error("\n" + f.Message("none"))
			}
		})
	}
}
