package mutants

import (
	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "equal-lsn", Case: "S20",
		Says:   "the fold leaves out older changes, and applies one with an equal LSN again",
		World:  withProcess(enrolledOnce(enrollmentPoller()), "cohort", apply(notOlder).run),
		Breaks: props.EqualLSNNoOp(worlds.EnrollmentTopic, worlds.CohortPrefix).Name,
	})
}

// newer is notOlder without its mistake.
func newer(_ *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment) {
	key := string(change.Key())
	if change.SourceLSN <= s.Latest[key].SourceLSN {
		return
	}
	s.Latest[key] = change
	seat(s, change)
}

// notOlder takes a copy for news.
func notOlder(_ *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment) {
	key := string(change.Key())
	if change.SourceLSN < s.Latest[key].SourceLSN { // the mistake: < for <=
		return
	}
	s.Latest[key] = change
	seat(s, change)
}
