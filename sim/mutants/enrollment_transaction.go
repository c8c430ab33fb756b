package mutants

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	w := withProcess(enrolledOnce(enrollmentPoller()), "poller", inTransaction().run)
	register(Mutant{
		Name: "transaction-for-fold", Case: "S23",
		Says: "a claim is published in a Kafka transaction, so the fold is taken to be " +
			"needless: every change that is read moves the seats",
		World: withProcess(w, "cohort", apply(countEach).run),
		Breaks: props.SeatCounts(
			worlds.EnrollmentTopic, worlds.CohortPrefix, props.FromOutbox).Name,
	})
}

// inTransaction publishes a claim once or not at all, and again when the mark did not
// come about: no transaction of Kafka spans the database.
func inTransaction() *pollerJob {
	j := newPollerJob()
	j.options = []kgo.Opt{kgo.TransactionalID("enrollment-poller")}
	j.steps[0] = func(l *pollerLife, ctx context.Context) error {
		if err := l.BeginTransaction(); err != nil {
			return err
		}
		if err := l.publish(ctx); err != nil {
			return err
		}
		if err := l.EndTransaction(ctx, kgo.TryCommit); err != nil {
			return fmt.Errorf("committing: %w", err)
		}
		return nil
	}
	return j
}
