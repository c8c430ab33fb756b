//go:build synctests

package mutants

import (
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// tileMutants returns the mutants of hop 3 and of the morning model.
func tileMutants() []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		return m.World.Processes[0].Name != "tile" && m.Case != "S22"
	})
}

// TestTileCaught hunts each mutant with random schedules: the promise that it names
// must catch it, for every seed.
func TestTileCaught(t *testing.T) {
	for _, m := range tileMutants() {
		t.Run(m.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(*seedsFlag); seed++ {
				caught(t, m, seed)
			}
		})
	}
}

// TestTileSaved looks for a saved schedule of each mutant; TestSavedSchedules runs
// them.
func TestTileSaved(t *testing.T) {
	for _, m := range tileMutants() {
		if _, err := schedule.Load(scheduleOf(m)); err != nil {
			t.Error(err)
		}
	}
}

// TestTileControl runs what the mutants are made of without a mistake: it keeps every
// promise, so that what breaks with a mutant is its mistake.
func TestTileControl(t *testing.T) {
	for _, w := range []sim.World{
		tileOne(),
		tileTwins(),
		tileLost(),
	} {
		t.Run(w.Name, func(t *testing.T) {
			w := withProcess(w, "tile", newTileJob().run)
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
