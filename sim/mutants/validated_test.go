//go:build synctests

package mutants

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// validatedMutants returns the mutants of hop 4.
func validatedMutants() []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		return m.World.Processes[0].Name != "validated"
	})
}

// TestValidatedCaught hunts each mutant with random schedules: the promise that it
// names must catch it, for every seed.
func TestValidatedCaught(t *testing.T) {
	for _, m := range validatedMutants() {
		t.Run(m.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
				caught(t, m, seed)
			}
		})
	}
}

// TestValidatedSaved looks for a saved schedule of each mutant; TestSavedSchedules
// runs them.
func TestValidatedSaved(t *testing.T) {
	for _, m := range validatedMutants() {
		if _, err := schedule.Load(scheduleOf(m)); err != nil {
			t.Error(err)
		}
	}
}

// TestValidatedControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake.
func TestValidatedControl(t *testing.T) {
	kills := validatedOne()
	kills.Verbs = killVerbs
	for _, c := range []struct {
		name  string
		world sim.World
	}{
		{"copier", withProcess(validatedOne(), "validated", copying{}.run)},
		{"copier of two", withProcess(validatedTwo(), "validated", copying{}.run)},
		{"pair", withProcess(validatedOne(), "validated", pairing{}.run)},
		{"pair of two", withProcess(validatedTwo(), "validated", pairing{}.run)},
		{"pair that holds back no rebalance", withProcess(validatedTwo(), "validated",
			pairing{options: []kgo.Opt{kgo.WithHooks()}}.run)},
		{"copier with a long timeout", withProcess(kills, "validated",
			copying{timeout: longTimeout}.run)},
		{"lake", validatedLake(kgo.ReadCommitted())},
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
