package mutants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// apply takes a change into the fold of its partition.
type apply func(l *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment)

// newest is apply without a mistake.
func newest(_ *cohortLife, s *hops.CohortSnapshot, change hops.Enrollment) { s.Apply(change) }

// run is one life of a fold as people write their first one: read the snapshots, go on
// from there, replace them after each poll, and at the first error exit, so that the
// supervisor starts it again.
func (a apply) run(ctx context.Context, env sim.Env) error {
	l := &cohortLife{Env: env, folds: make(map[int32]*cohortFold)}
	err := l.live(ctx, a)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// cohortLife is one life of a fold.
type cohortLife struct {
	sim.Env
	folds map[int32]*cohortFold // by partition
}

// cohortFold is the fold of one partition, and the snapshot that it goes on from.
type cohortFold struct {
	*hops.CohortSnapshot
	etag   string
	stored int64 // up to where the snapshot is
}

func (l *cohortLife) live(ctx context.Context, a apply) error {
	from := make(map[int32]kgo.Offset)
	for p := range enrollmentPoller().Topics[0].Partitions {
		fold, err := l.load(ctx, p)
		if err != nil {
			return err
		}
		l.folds[p], from[p] = fold, kgo.NewOffset().At(fold.Next)
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{worlds.EnrollmentTopic: from}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		// The end of a transaction is read too, or the topic would end after what is read.
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
	}, l.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, batch := range batches(fetches) {
			if err := l.take(batch, a); err != nil {
				return err
			}
		}
		if err := l.store(ctx); err != nil {
			return err
		}
	}
}

func (l *cohortLife) take(batch []*kgo.Record, a apply) error {
	fold := l.folds[batch[0].Partition]
	for _, r := range batch {
		fold.Next = r.Offset + 1
		if r.Attrs.IsControl() {
			continue
		}
		change, err := hops.ParseEnrollment(r.Key, r.Value)
		if err != nil {
			return fmt.Errorf("offset %d: %w", r.Offset, err)
		}
		a(l, fold.CohortSnapshot, change)
	}
	return nil
}

func cohortKey(partition int32) string { return fmt.Sprint(worlds.CohortPrefix, "/", partition) }

// load reads the snapshot of a partition.
func (l *cohortLife) load(ctx context.Context, partition int32) (*cohortFold, error) {
	body, etag, err := l.Objects.Get(ctx, cohortKey(partition))
	if errors.Is(err, fs.ErrNotExist) {
		s := hops.NewCohortSnapshot(worlds.EnrollmentTopic, partition)
		return &cohortFold{CohortSnapshot: s}, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := hops.ParseCohortSnapshot(body)
	if err != nil {
		return nil, err
	}
	return &cohortFold{CohortSnapshot: s, etag: etag, stored: s.Next}, nil
}

// errReplaced is what the next life goes by: an earlier one's put came late.
var errReplaced = errors.New("the snapshot is another one than was read")

// store replaces the snapshots of what was read further.
func (l *cohortLife) store(ctx context.Context) error {
	for _, p := range slices.Sorted(maps.Keys(l.folds)) {
		fold := l.folds[p]
		if fold.Next == fold.stored {
			continue
		}
		body, err := hops.AppendCohortSnapshot(nil, fold.CohortSnapshot)
		if err != nil {
			return err
		}
		ok, etag, err := l.Objects.PutIf(ctx, cohortKey(p), body, fold.etag)
		if err == nil && !ok {
			err = errReplaced
		}
		if err != nil {
			return fmt.Errorf("replacing %s: %w", cohortKey(p), err)
		}
		fold.etag, fold.stored = etag, fold.Next
	}
	return nil
}

// seat counts a change as its op says, one seat more or one less.
func seat(s *hops.CohortSnapshot, change hops.Enrollment) {
	more := int64(1)
	if change.Op == hops.OpDropped {
		more = -1
	}
	if s.Seats[change.CourseID] += more; s.Seats[change.CourseID] == 0 {
		delete(s.Seats, change.CourseID)
	}
}
