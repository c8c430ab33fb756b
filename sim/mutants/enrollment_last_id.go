package mutants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/tap"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "last-id", Case: "A13",
		Says: "rows are read from the last id on, and one that commits after a row with a " +
			"greater id is passed for good",
		World:  withProcess(enrollmentPoller(), "poller", lastID().run),
		Breaks: props.PublishedOrPending(worlds.EnrollmentTopic, props.FromOutbox).Name,
	})
}

// cursorKey is the object with the id of the last row that is published.
const cursorKey = "poller/cursor"

// lastID is what ThreeDotsLabs/watermill#311 mended. Its mark is for the books alone.
func lastID() *pollerJob {
	j := newPollerJob()
	j.claim = (*pollerLife).claimAfter
	j.steps = []func(*pollerLife, context.Context) error{
		(*pollerLife).publish, (*pollerLife).putCursor, (*pollerLife).mark,
	}
	return j
}

// claimAfter publishes what follows the cursor, whatever it claims.
func (l *pollerLife) claimAfter(ctx context.Context) error {
	if err := l.claimFree(ctx); err != nil || l.claim == 0 {
		return err
	}
	if err := l.getCursor(ctx); err != nil {
		return err
	}
	// The mistake: ids become visible in another order than they are drawn in.
	ids, keys, values, err := l.Database.(tap.DatabaseReads).After(ctx, l.last, pollerBatch)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		l.last = ids[len(ids)-1]
	}
	l.rows = recordsOf(keys, values)
	return nil
}

func (l *pollerLife) getCursor(ctx context.Context) error {
	body, _, err := l.Objects.Get(ctx, cursorKey)
	if errors.Is(err, fs.ErrNotExist) {
		l.last = 0
		return nil
	}
	if err == nil {
		l.last, err = strconv.ParseInt(string(body), 10, 64)
	}
	if err != nil {
		return fmt.Errorf("reading the cursor: %w", err)
	}
	return nil
}

func (l *pollerLife) putCursor(ctx context.Context) error {
	if _, err := l.Objects.Put(ctx, cursorKey, fmt.Append(nil, l.last)); err != nil {
		return fmt.Errorf("writing the cursor: %w", err)
	}
	return nil
}
