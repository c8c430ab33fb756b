package mutants

import (
	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "row-lsn", Case: "A15",
		Says: "each course remembers the LSN of the last row that changed it, and takes a " +
			"change whose row has a smaller one for a copy: of two transactions at a time, " +
			"the one that commits last may have written first",
		World: courseLSN((*cohortLife).rowLSN),
		Breaks: props.FoldEqualsDatabase(
			worlds.EnrollmentTopic, worlds.CohortPrefix, props.FromLog).Name,
	})
}

// courseLSN is the world of a fold with one position per course, as a table of courses
// has one in each row, and of a publisher that keeps the order of all commits and not of
// each key alone.
func courseLSN(lsn func(*cohortLife, hops.Enrollment) string) sim.World {
	inOrder := newStreamJob()
	inOrder.window = 1
	w := withProcess(enrollmentLog(), "publisher", inOrder.run)
	return withProcess(w, "cohort", apply(func(
		l *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment,
	) {
		for _, other := range s.Latest {
			if other.CourseID == change.CourseID && lsn(l, other) >= lsn(l, change) {
				return
			}
		}
		s.Apply(change)
	}).run)
}

// commitLSN is the position to go by.
func commitLSN(_ *cohortLife, change hops.Enrollment) string { return change.SourceLSN }

// rowLSN is the mistake of risingwavelabs/risingwave PR#22503.
func (l *cohortLife) rowLSN(change hops.Enrollment) string {
	return l.Database.(tap.DatabaseReads).RowLSN(change.SourceLSN)
}
