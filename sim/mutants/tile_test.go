//go:build synctests

package mutants

import (
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

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

// TestTileUndisturbed: without faults, those mutants are right whose mistake is about
// what a fault leaves behind. One that broke its promise anyhow would be caught for
// another reason than the one that it says.
func TestTileUndisturbed(t *testing.T) {
	for _, name := range []string{
		"group-cursor", "listing-reader", "replan", "tile-commit-first",
	} {
		m, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(5) {
			s := schedule.Schedule{World: m.World.Name, Mutant: name, Seed: seed}
			if got := verdict(t, m.World, s); len(got) > 0 {
				t.Errorf("%s, seed %d, without a fault: it breaks %v", name, seed, got)
			}
		}
	}
}
