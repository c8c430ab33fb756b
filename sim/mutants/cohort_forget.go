package mutants

import (
	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "forgets-dropped", Case: "S36",
		Says: "the fold removes who dropped, with the LSN of that: an older change that " +
			"comes again enrolls them",
		World:  withProcess(enrollmentPoller(), "cohort", apply(forget).run),
		Breaks: props.EqualLSNNoOp(worlds.EnrollmentTopic, worlds.CohortPrefix).Name,
	})
}

// forget keeps those alone who are enrolled.
func forget(_ *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment) {
	if s.Apply(change) && change.Op == hops.OpDropped {
		delete(s.Latest, string(change.Key())) // the mistake: nothing says when
	}
}
