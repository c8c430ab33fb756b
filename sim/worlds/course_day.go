package worlds

import (
	"context"
	"errors"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
)

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
		cell := d.CourseID + " " + d.Day
		counts = append(counts,
			model.Count{Of: cell + " lines", N: d.Lines},
			model.Count{Of: cell + " distinct", N: d.DistinctEventIDs})
	}
	env.Report("course-day", counts, "")
	return nil
}

// courseDayCell says under which course and day the morning model counts a record.
func courseDayCell(r tap.Raw) (class, cell string) {
	if r.Topic != Progress {
		return "", ""
	}
	var reject *hops.Reject
	if errors.As(hops.Classify(r.Key, r.Value), &reject) {
		return reject.Reason, ""
	}
	course, at := courseAndTime(r.Value)
	return "", course + " " + at.Format(time.DateOnly)
}
