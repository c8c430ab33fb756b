package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "mark-sent", Case: "S31",
		Says:   "rows are marked when the client has taken them, and nobody waits for the acks",
		World:  withProcess(enrollmentPoller(), "poller", markSent().run),
		Breaks: props.MarkWithinAcked(worlds.EnrollmentTopic).Name,
	})
}

// markSent takes the client's buffer for the topic.
func markSent() *pollerJob {
	j := newPollerJob()
	j.steps = []func(*pollerLife, context.Context) error{
		func(l *pollerLife, _ context.Context) error {
			for _, r := range l.rows {
				l.Produce(context.Background(), r, nil) // the mistake: no ack is looked at
			}
			return nil
		},
		(*pollerLife).mark,
	}
	return j
}
