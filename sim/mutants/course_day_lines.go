package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "counts-lines", Case: "S22",
		Says: "the morning model counts lines where the product counts observations: a resend " +
			"is one more",
		World:  withProcess(landingOne(), "course_day", countLines),
		Breaks: props.CourseDay(worlds.Progress, worlds.LandingGroup).Name,
	})
}

// countLines takes each send for an observation.
func countLines(ctx context.Context, env sim.Env) error {
	days, err := hops.CourseDays(ctx, env.Objects, worlds.Progress)
	if err != nil {
		return err
	}
	var counts []model.Count
	for _, d := range days {
		cell := d.CourseID + " " + d.Day
		counts = append(counts,
			model.Count{Of: cell + " lines", N: d.Lines},
			model.Count{Of: cell + " distinct", N: d.Lines}) // the mistake
	}
	env.Report("course-day", counts, "")
	return nil
}
