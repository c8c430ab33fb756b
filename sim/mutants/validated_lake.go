package mutants

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "lake-read-uncommitted", Case: "S18",
		Says: "the output is landed in the object store by a hop that reads as the client " +
			"does by default: what was aborted is stored, too",
		World:  validatedLake(kgo.ReadUncommitted()), // the mistake
		Breaks: props.OneObjectPerOffset(worlds.ValidatedTopic).Name,
	})
}

// validatedLake is the world of one transactional member with one process more, which
// lands the output. The landing hop is the right one; how it must read is for whoever
// deploys it to say, since it knows nothing of its topic's writers.
func validatedLake(level kgo.IsolationLevel) sim.World {
	w := validatedOne()
	w.Topics = append(slices.Clone(w.Topics), sim.Topic{Name: worlds.ProgressDLQ, Partitions: 1})
	w.Processes = append(slices.Clone(w.Processes), sim.Process{
		Name: "lake",
		Run: func(ctx context.Context, env sim.Env) error {
			landing, err := hops.NewLanding(hops.LandingConfig{
				Kafka: append([]kgo.Opt{kgo.FetchIsolationLevel(level)}, env.Kafka...),
				Store: env.Objects, Topic: worlds.ValidatedTopic, DLQ: worlds.ProgressDLQ,
				Group: "lake",
			})
			if err != nil {
				return err
			}
			return landing.Run(ctx)
		},
	})
	w.Describe = worlds.Describe
	w.Promises = append(slices.Clone(w.Promises), props.OneObjectPerOffset(worlds.ValidatedTopic))
	return w
}
