package worlds

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// day is the window of the morning model.
const day = bus.Day

// CourseDay is the process of the morning model: it counts the raw objects once, when
// all has landed, and reports lines and distinct event ids per course and day.
func CourseDay() sim.Process {
	return sim.Process{Name: "course_day", Last: true, Run: ReportCourseDays}
}

// ReportCourseDays is one life of the morning model.
func ReportCourseDays(ctx context.Context, env sim.Env) error {
	days, err := hops.CourseDays(ctx, env.Objects, Progress)
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
