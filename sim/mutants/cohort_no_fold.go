package mutants

import (
	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "no-fold", Case: "S20",
		Says:  "every change that is read moves the seats, also one that came before",
		World: withProcess(enrolledOnce(enrollmentPoller()), "cohort", apply(countEach).run),
		Breaks: props.SeatCounts(
			worlds.EnrollmentTopic, worlds.CohortPrefix, props.FromOutbox).Name,
	})
}

// countEach counts changes, and not enrollments.
func countEach(_ *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment) {
	s.Latest[string(change.Key())] = change // the mistake: its LSN is not looked at
	seat(s, change)
}
