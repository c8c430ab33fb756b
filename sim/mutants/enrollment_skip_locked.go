package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/tap"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "skip-locked-alone", Case: "S32",
		Says: "two pollers skip each other's rows and lock no keys: one publishes a change " +
			"of a key while the other has the one before in hand",
		World:  withProcess(enrollmentPollers(), "poller", skipLocked().run),
		Breaks: props.OrderPerKey(worlds.EnrollmentTopic, props.FromOutbox).Name,
	})
}

// skipLocked trusts "for update skip locked".
func skipLocked() *pollerJob {
	j := newPollerJob()
	j.claim = func(l *pollerLife, ctx context.Context) (err error) {
		var keys []string
		var values [][]byte
		rows := l.Database.(tap.DatabaseReads)
		l.claim, keys, values, err = rows.ClaimRows(ctx, pollerBatch) // the mistake
		l.rows = recordsOf(keys, values)
		return err
	}
	return j
}
