package hops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// load reads the snapshot of a partition, or returns the fold of nothing.
func (c *Cohort) load(ctx context.Context, partition int32) (*cohortPartition, error) {
	body, etag, err := c.get(ctx, partition)
	if err != nil {
		return nil, err
	}
	if etag == "" {
		return &cohortPartition{CohortSnapshot: NewCohortSnapshot(c.cfg.Topic, partition)}, nil
	}
	s, err := ParseCohortSnapshot(body)
	switch {
	case err != nil:
		return nil, c.damaged(partition, "%v", err)
	case s.Topic != c.cfg.Topic || s.Partition != partition:
		return nil, c.damaged(partition, "it is of %s/%d", s.Topic, s.Partition)
	}
	return &cohortPartition{CohortSnapshot: s, etag: etag, stored: s.Next}, nil
}

// get reads the object of a partition. An empty etag means that there is none.
func (c *Cohort) get(ctx context.Context, partition int32) (body []byte, etag string, err error) {
	err = c.calls.once(ctx, func(ctx context.Context) (err error) {
		body, etag, err = c.cfg.Store.Get(ctx, c.key(partition))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading %s: %w", c.key(partition), err)
	}
	return body, etag, nil
}

// put replaces the snapshot of a partition, if it is still the one that the fold
// goes on from. After an answer other than yes it looks: a put without an answer
// may have been applied, and then the same put made again is refused. It insists on
// the same bytes until it knows, so that one that comes late does no harm.
func (c *Cohort) put(ctx context.Context, p *cohortPartition) (what string, err error) {
	key := c.key(p.Partition)
	body, err := AppendCohortSnapshot(nil, p.CohortSnapshot)
	if err != nil {
		return AlertSnapshotFailed, err
	}
	for {
		var ok bool
		var etag string
		err := c.calls.once(ctx, func(ctx context.Context) (err error) {
			ok, etag, err = c.cfg.Store.PutIf(ctx, key, body, p.etag)
			return err
		})
		if err == nil && ok {
			p.etag = etag
			c.calls.succeeded()
			return "", nil
		}
		has, etag, getErr := c.get(ctx, p.Partition)
		switch {
		case getErr != nil:
			err = errors.Join(err, getErr)
		case etag != "" && bytes.Equal(has, body):
			p.etag = etag
			c.calls.succeeded()
			return "", nil
		case etag != p.etag:
			return AlertConflict, fmt.Errorf("%s is not the snapshot that this cohort goes on "+
				"from: %w; it is read again", key, errConflict)
		}
		if ctx.Err() != nil {
			return AlertSnapshotFailed, ctx.Err()
		}
		wait, spent := c.calls.failed()
		if spent {
			c.alert(AlertSnapshotFailed, "writing %s rests for %v, nothing is lost: %v",
				key, wait, err)
		}
		sleep(ctx, wait)
	}
}

// CohortStore is the part of an [ObjectStore] that [ReadCohort] uses.
type CohortStore interface {
	ObjectLister
	ObjectConditional
}

// CohortState is the folds of all partitions.
type CohortState struct {
	// Latest holds the last change of each key, ordered by key, also those that
	// dropped.
	Latest []Enrollment
	// Seats counts the enrolled learners of each course that has any.
	Seats map[string]int64
	// Next is, per partition, the offset after the last record that is folded in.
	Next map[int32]int64
	// Skipped counts the records that were no changes.
	Skipped int64
}

// ReadCohort reads what a [Cohort] stored under prefix. It may be called while one
// runs: each partition is then of a moment of its own. A key that is in two
// partitions, because partitions were added to the topic, counts where its latest
// change is. The error is a [*CohortDamageError] when a snapshot cannot be read.
func ReadCohort(ctx context.Context, store CohortStore, prefix string) (CohortState, error) {
	names, err := listNames(ctx, store, prefix+"/")
	if err != nil {
		return CohortState{}, fmt.Errorf("listing %s/: %w", prefix, err)
	}
	state := CohortState{Seats: make(map[string]int64), Next: make(map[int32]int64)}
	latest := make(map[string]Enrollment)
	for _, name := range names {
		key := prefix + "/" + name
		if _, err := strconv.ParseInt(name, 10, 32); err != nil || strings.HasPrefix(name, "-") {
			continue // not ours
		}
		body, ok, err := getObject(ctx, store, key)
		if err == nil && !ok {
			err = errors.New("it was listed and is gone")
		}
		if err != nil {
			return CohortState{}, fmt.Errorf("reading %s: %w", key, err)
		}
		s, err := ParseCohortSnapshot(body)
		if err != nil {
			return CohortState{}, &CohortDamageError{Key: key, Reason: err.Error()}
		}
		state.add(s, latest)
	}
	for _, key := range slices.Sorted(maps.Keys(latest)) {
		state.Latest = append(state.Latest, latest[key])
	}
	return state, nil
}

// add adds one partition. The seats are the partition's own, less those of keys
// whose latest change is in another one.
func (state *CohortState) add(s *CohortSnapshot, latest map[string]Enrollment) {
	state.Next[s.Partition] = s.Next
	state.Skipped += s.Skipped
	for course, n := range s.Seats {
		state.Seats[course] += n
	}
	for key, change := range s.Latest {
		other, known := latest[key]
		if !known {
			latest[key] = change
			continue
		}
		loser := other
		if change.SourceLSN > other.SourceLSN {
			latest[key] = change
		} else {
			loser = change
		}
		state.Seats[loser.CourseID] -= taken(loser)
	}
	maps.DeleteFunc(state.Seats, func(_ string, n int64) bool { return n == 0 })
}
