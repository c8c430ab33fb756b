package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "confirm-keepalive", Case: "A14",
		Says: "the position of a keepalive is confirmed as it comes, though changes before " +
			"it are still on their way to the topic",
		World:  withProcess(enrollmentLog(), "publisher", confirmKeepalive().run),
		Breaks: props.PublishedOrPending(worlds.EnrollmentTopic, props.FromLog).Name,
	})
}

// confirmKeepalive is what Trendyol/go-pq-cdc#107 mended.
func confirmKeepalive() *streamJob {
	j := newStreamJob()
	j.keepalive = func(l *streamLife, ctx context.Context, lsn string) error {
		if err := l.confirm(ctx, lsn); err != nil { // the mistake: it comes too early
			return err
		}
		return l.flush()
	}
	return j
}
