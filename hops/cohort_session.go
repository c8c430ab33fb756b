package hops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// cohortSession is one client and what it has read. Whatever fails, the next
// session begins from the snapshots: nothing of this one is carried over.
type cohortSession struct {
	*Cohort
	client *kgo.Client
	source *kafkaSource
	parts  map[int32]*cohortPartition
	look   time.Time // when to look for new partitions
}

// cohortPartition is a fold in memory, and the snapshot that it goes on from.
type cohortPartition struct {
	*CohortSnapshot
	etag   string // of the snapshot, or empty if there is none
	stored int64  // Next of the snapshot
	due    time.Time
}

// session folds until something fails or ctx ends, and says what failed.
func (c *Cohort) session(ctx context.Context) (what string, err error) {
	client, err := kgo.NewClient(c.options()...)
	if err != nil {
		return AlertFetchFailed, fmt.Errorf("creating the Kafka client: %w", err)
	}
	defer client.Close()
	s := &cohortSession{
		Cohort: c, client: client, source: &kafkaSource{client: client, topic: c.cfg.Topic},
		parts: make(map[int32]*cohortPartition),
	}
	for ctx.Err() == nil {
		if !time.Now().Before(s.look) {
			if what, err := s.discover(ctx); err != nil {
				return what, err
			}
			s.look = time.Now().Add(c.cfg.Discover)
		}
		if err := s.poll(ctx); err != nil {
			return AlertFetchFailed, err
		}
		if what, err := s.store(ctx); err != nil {
			return what, err
		}
	}
	return "", nil
}

// discover begins with partitions that are not read yet.
func (s *cohortSession) discover(ctx context.Context) (what string, err error) {
	var bounds []logBounds
	err = s.calls.once(ctx, func(ctx context.Context) (err error) {
		bounds, err = s.source.bounds(ctx)
		return err
	})
	if err != nil {
		return AlertFetchFailed, err
	}
	add := make(map[int32]kgo.Offset)
	for _, b := range bounds {
		if s.parts[b.partition] != nil {
			continue
		}
		p, err := s.load(ctx, b.partition)
		if err != nil {
			return AlertSnapshotFailed, err
		}
		switch {
		case p.etag != "" && p.Next < b.start:
			return "", s.damaged(b.partition, "it goes on at offset %d, and retention has "+
				"removed what is below offset %d", p.Next, b.start)
		case p.etag == "" && b.start > 0:
			s.alert(AlertTrimmed, "%s/%d begins at offset %d and there is no snapshot: "+
				"enrollments that changed only before are not known", s.cfg.Topic, b.partition,
				b.start)
			p.Next = b.start
		case p.Next > b.end:
			if !s.behind[b.partition] {
				s.alert(AlertBehind, "%s/%d ends at offset %d, below offset %d that is folded "+
					"in: nothing is read until it is there again; unless a leader has just "+
					"changed, the topic was truncated or created anew",
					s.cfg.Topic, b.partition, b.end, p.Next)
			}
			s.behind[b.partition] = true
			continue
		}
		delete(s.behind, b.partition)
		s.parts[b.partition] = p
		add[b.partition] = kgo.NewOffset().At(p.Next)
	}
	if len(add) > 0 {
		s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{s.cfg.Topic: add})
	}
	return "", nil
}

// poll waits for records until there is something else to do, and folds them in.
func (s *cohortSession) poll(ctx context.Context) error {
	wake := s.look
	for _, p := range s.parts {
		if p.Next > p.stored && p.due.Before(wake) {
			wake = p.due
		}
	}
	wait, cancel := context.WithDeadline(ctx, wake)
	defer cancel()
	fetches := s.client.PollFetches(wait)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fetches.IsClientClosed() {
		return kgo.ErrClientClosed
	}
	var failure error
	fetches.EachPartition(func(fetch kgo.FetchTopicPartition) {
		if failure == nil {
			failure = s.take(fetch)
		}
	})
	if failure == nil && fetches.NumRecords() > 0 {
		s.calls.succeeded()
	}
	return failure
}

// take folds in what one fetch brought of one partition.
func (s *cohortSession) take(fetch kgo.FetchTopicPartition) error {
	var lost *kgo.ErrDataLoss
	switch err := fetch.Err; {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
	case errors.As(err, &lost):
		return s.damaged(fetch.Partition, "the topic was truncated: %v", err)
	default:
		return fmt.Errorf("fetching %s/%d: %w", fetch.Topic, fetch.Partition, err)
	}
	p := s.parts[fetch.Partition]
	for _, record := range fetch.Records {
		switch {
		case record.Offset < p.Next:
			return s.damaged(p.Partition, "it goes on at offset %d, and the log went back to "+
				"offset %d", p.Next, record.Offset)
		case record.Offset > p.Next && fetch.LogStartOffset > p.Next:
			return s.damaged(p.Partition, "it goes on at offset %d, and retention has removed "+
				"what is below offset %d", p.Next, fetch.LogStartOffset)
		}
		change, err := ParseEnrollment(record.Key, record.Value)
		if err != nil {
			p.Skipped++
			s.alert(AlertSkipped, "%s/%d/%d is no change and is passed over: %v",
				s.cfg.Topic, p.Partition, record.Offset, err)
		} else {
			p.Apply(change)
		}
		p.Next = record.Offset + 1
	}
	return nil
}

// store writes the snapshots that are due.
func (s *cohortSession) store(ctx context.Context) (what string, err error) {
	for _, id := range slices.Sorted(maps.Keys(s.parts)) {
		p := s.parts[id]
		if p.Next == p.stored || time.Now().Before(p.due) {
			continue
		}
		if what, err := s.put(ctx, p); err != nil {
			return what, err
		}
		p.stored, p.due = p.Next, time.Now().Add(s.cfg.Every)
	}
	return "", nil
}
