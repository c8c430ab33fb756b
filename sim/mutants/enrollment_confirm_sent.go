package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "confirm-sent", Case: "S33",
		Says:   "a change is confirmed when the client has taken it, and nobody waits for the ack",
		World:  withProcess(enrollmentLog(), "publisher", confirmSent().run),
		Breaks: props.ConfirmWithinAcked(worlds.EnrollmentTopic).Name,
	})
}

// confirmSent takes the client's buffer for the topic.
func confirmSent() *streamJob {
	j := newStreamJob()
	j.window = 1
	j.full = func(l *streamLife, ctx context.Context) error {
		return l.confirm(ctx, l.last) // the mistake: no ack is looked at
	}
	return j
}
