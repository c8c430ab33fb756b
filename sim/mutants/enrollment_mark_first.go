package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "mark-first", Case: "S19",
		Says:   "the rows of a claim are marked as published before they are",
		World:  withProcess(enrollmentPoller(), "poller", markFirst().run),
		Breaks: props.PublishedOrPending(worlds.EnrollmentTopic, props.FromOutbox).Name,
	})
}

// markFirst would publish nothing twice.
func markFirst() *pollerJob {
	j := newPollerJob()
	j.steps = []func(*pollerLife, context.Context) error{
		(*pollerLife).mark, // the mistake: it comes too early
		(*pollerLife).publish,
	}
	return j
}
