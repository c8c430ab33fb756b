//go:build synctests

package mutants

import (
	"context"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

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
