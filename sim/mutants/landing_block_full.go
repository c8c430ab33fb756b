package mutants

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "block-full", Case: "A4",
		Says: "when a block is full it is stored without the record in hand, and the record " +
			"in hand is committed",
		World:  with(landingBlock(), blockFull),
		Breaks: props.NoLoss(worlds.Progress, worlds.LandingGroup, worlds.ProgressDLQ).Name,
	})
}

// landingBlock is the world of two members with one object per block.
func landingBlock() sim.World {
	return worlds.Landing("landing-block", worlds.Setup{Replicas: 2, Naming: hops.Block})
}

// blockFull is what grafana/loki#18833 mended.
func blockFull(ctx context.Context, env sim.Env) error {
	w := newBlockWriter()
	w.covered = func(_ *block, current *kgo.Record) *kgo.Record { return current } // the mistake
	return w.run(ctx, env)
}
