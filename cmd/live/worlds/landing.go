package worlds

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// blockSize is how many offsets a block has in the world with block naming.
const blockSize = 8

func init() {
	register(landing("landing", hops.Record))
	register(landing("landing-block", hops.Block))
}

// landing is the world of hop 2.
func landing(name string, naming hops.Naming) World {
	const replicas = 2
	calls := map[string]int{"put": 8}
	at := specs.Topology{
		Topic: bus.Progress, DLQ: bus.ProgressDLQ, Group: bus.LandingGroup, Proc: "landing",
		Partitions: Partitions,
	}
	if naming == hops.Block {
		at.Block = blockSize
		calls = map[string]int{"putif": 4}
	}
	return World{
		Name: name, Says: "2 landing members, " + string(naming) + " naming",
		Topics: []Topic{
			{Name: bus.Progress, Partitions: Partitions},
			{Name: bus.ProgressDLQ, Partitions: 1},
		},
		Groups: []string{bus.LandingGroup},
		Processes: []Process{
			{Name: "landing", Replicas: replicas, Run: runLanding(naming)},
			{Name: "course_day", Replicas: 1, Last: true, Run: reportCourseDays},
		},
		Values:   bus.Generate,
		Identify: bus.Identify,
		Describe: bus.Describe,
		Classify: bus.CellsOf(bus.Day),
		Promises: []props.Property{
			props.NoLoss(bus.Progress, bus.LandingGroup, bus.ProgressDLQ),
			props.OneObjectPerOffset(bus.Progress),
			props.RerunSameBytes(bus.Progress),
			props.CommitWithinResolved(bus.Progress, bus.LandingGroup, bus.ProgressDLQ),
			props.CommitMonotonic(bus.LandingGroup),
			props.ResendVisible(bus.Progress, bus.LandingGroup, bus.ProgressDLQ),
			props.Drains(bus.Progress, bus.LandingGroup),
			props.CourseDay(bus.Progress, bus.LandingGroup),
		},
		Spec: "landing", At: at,
		Drained: func(ctx context.Context, r Reader) (bool, error) {
			return committedAll(ctx, r, bus.LandingGroup, bus.Progress)
		},
		Points: crossed("landing", replicas, map[string]int{
			"OffsetCommit": 4, "Produce": 2, "Fetch": 4, "ConsumerGroupHeartbeat": 3,
			"OffsetFetch": 1,
		}, calls),
	}
}

func runLanding(naming hops.Naming) func(context.Context, Env) error {
	return func(ctx context.Context, env Env) error {
		l, err := hops.NewLanding(hops.LandingConfig{
			Kafka: env.Kafka, Store: env.Objects, Topic: env.Names.Of(bus.Progress),
			DLQ: env.Names.Of(bus.ProgressDLQ), Group: env.Names.Of(bus.LandingGroup),
			Naming: naming, BlockSize: blockSize, FlushAfter: 5 * time.Second,
			CoolDown: 10 * time.Second, Alert: alert(env),
		})
		if err != nil {
			return err
		}
		return l.Run(ctx)
	}
}

// reportCourseDays is one life of the morning model.
func reportCourseDays(ctx context.Context, env Env) error {
	days, err := hops.CourseDays(ctx, env.Objects, env.Names.Of(bus.Progress))
	if err != nil {
		return err
	}
	var counts []model.Count
	for _, d := range days {
		at, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			return err
		}
		cell := bus.CellName(at.UnixMilli(), d.CourseID)
		counts = append(counts,
			model.Count{Of: cell + bus.LinesWord, N: d.Lines},
			model.Count{Of: cell + bus.DistinctWord, N: d.DistinctEventIDs})
	}
	env.Report("course-day", counts, "")
	return nil
}
