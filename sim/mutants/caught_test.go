//go:build synctests

package mutants

import (
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
		"with how many seeds each mutant must be caught")
	replaysFlag = flag.Int("mutants.replays", 0,
		"how often each shrunk schedule is run again, beside what a campaign does by itself")
	controlFlag = flag.Int("mutants.control", 40,
		"how many schedules the programs without a mistake must survive")
	saveFlag = flag.Uint64("mutants.save", 0,
		"save the shrunk schedules that this seed finds in testdata")
)

// TestCaught hunts each mutant with random schedules: the promise that it names must
// catch it, for every seed. A shrunk schedule of each must be saved, for
// TestSavedSchedules.
func TestCaught(t *testing.T) {
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
				caught(t, m, seed)
			}
			if _, err := schedule.Load(scheduleOf(m)); err != nil {
				t.Error(err)
			}
		})
	}
}

// bounds returns how many schedules it may take to catch a mutant, and how many
// faults the shrunk schedule may have. A transaction takes more to go wrong: somebody
// must be evicted in the middle of one.
func bounds(m Mutant) (within, mostFaults int) {
	if strings.HasPrefix(m.World.Name, "validated") {
		return 500, 3
	}
	return 300, 2
}

func scheduleOf(m Mutant) string { return filepath.Join("testdata", m.Name+".schedule") }

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
