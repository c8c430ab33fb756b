package hops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// round is one turn of the loop: poll, take what came, do what is due, let the
// group rebalance. It returns false when landing must stop; rebalances may then
// still be held back.
func (l *Landing) round(ctx context.Context) bool {
	fetches := l.poll(ctx)
	if ctx.Err() != nil || fetches.IsClientClosed() {
		return false
	}
	if len(fetches) == 0 {
		return true // an empty poll does not hold rebalances back, so touch nothing
	}
	// Last: from here on the group's callbacks may change what is in hand.
	defer l.client.AllowRebalance()
	l.hurry.Store(false)
	fetches.EachPartition(l.take)
	for _, p := range l.sorted() {
		for !l.hurry.Load() && ctx.Err() == nil && l.step(ctx, p) {
		}
	}
	l.pause()
	l.plan()
	return true
}

// plan notes when the next poll must be over: as soon as a partition has
// something to do by itself.
func (l *Landing) plan() {
	l.wakes = l.wakes[:0]
	for _, p := range l.parts {
		if at, ok := l.dueAt(p); ok {
			l.wakes = append(l.wakes, at)
		}
	}
}

// poll waits for records, but not past the planned moment. A wait that is over
// is an expired context, never a nil one: only then does the client hold
// rebalances back although nothing came.
func (l *Landing) poll(ctx context.Context) kgo.Fetches {
	if len(l.wakes) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, slices.MinFunc(l.wakes, time.Time.Compare))
		defer cancel()
	}
	return l.client.PollRecords(ctx, l.cfg.MaxPoll)
}

// take adds what one fetch brought of one partition to what is in hand.
func (l *Landing) take(fetch kgo.FetchTopicPartition) {
	if fetch.Err != nil {
		l.refused(fetch)
	}
	if len(fetch.Records) == 0 {
		return
	}
	p := l.partition(fetch.Partition)
	if p.done < 0 {
		l.begin(p, fetch.Records[0])
	}
	for _, record := range fetch.Records {
		if p.damage != nil {
			return
		}
		switch {
		case record.Offset < p.next:
			l.damage(p, p.next, fmt.Sprintf("the log went back to offset %d: it was "+
				"truncated, or the topic was created anew", record.Offset))
			return
		case record.Offset > p.next && fetch.LogStartOffset > p.next:
			l.alert(AlertTrimmed, "%s/%d: offsets %d to %d were removed before they were landed",
				l.cfg.Topic, p.id, p.next, min(fetch.LogStartOffset, record.Offset)-1)
		}
		it := &item{record: record}
		var reject *Reject
		if errors.As(Classify(record.Key, record.Value), &reject) {
			it.reject = reject.Reason
		}
		p.queue = append(p.queue, it)
		p.next = record.Offset + 1
	}
	p.lastTaken = time.Now()
}

// refused deals with a fetch error that the client does not retry by itself.
// Polling again at once would be a busy loop, so the partition rests, as it does
// after a failed put, and the others go on.
func (l *Landing) refused(fetch kgo.FetchTopicPartition) {
	err := fetch.Err
	var lost *kgo.ErrDataLoss
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// The end of a wait of ours.
	case errors.Is(err, kerr.FencedInstanceID):
		l.fatal = fmt.Errorf("landing: %w", err)
	case fetch.Topic != l.cfg.Topic || fetch.Partition < 0 || errors.As(err, &lost):
		l.alert(AlertFetchFailed, "%s/%d: %v", fetch.Topic, fetch.Partition, err)
	default:
		if p := l.partition(fetch.Partition); p.damage == nil {
			l.failed(p, AlertFetchFailed, fmt.Errorf("fetching: %w", err))
		}
	}
}

// partition returns what is in hand of a partition, at first nothing.
func (l *Landing) partition(id int32) *partition {
	p := l.parts[id]
	if p == nil {
		p = &partition{id: id, committed: -1, done: -1, next: -1, epoch: -1}
		l.parts[id] = p
	}
	return p
}

// drop forgets partitions that are no longer ours. What was resolved but not
// committed is done again by the next owner, with the same result.
func (l *Landing) drop(_ context.Context, client *kgo.Client, lost map[string][]int32) {
	for _, id := range lost[l.cfg.Topic] {
		delete(l.parts, id)
		delete(l.paused, id)
	}
	// A pause outlives the assignment unless it is taken back.
	client.ResumeFetchPartitions(map[string][]int32{l.cfg.Topic: lost[l.cfg.Topic]})
}

// pause stops fetching for partitions that wait, so that what they hold stays
// bounded by one block and one poll, and resumes the others.
func (l *Landing) pause() {
	now := time.Now()
	var stop, resume []int32
	for _, p := range l.sorted() {
		waits := p.damage != nil || p.due.After(now)
		if waits && !l.paused[p.id] {
			l.paused[p.id] = true
			stop = append(stop, p.id)
		}
		if !waits && l.paused[p.id] {
			delete(l.paused, p.id)
			resume = append(resume, p.id)
		}
	}
	if len(stop) > 0 {
		l.client.PauseFetchPartitions(map[string][]int32{l.cfg.Topic: stop})
	}
	if len(resume) > 0 {
		l.client.ResumeFetchPartitions(map[string][]int32{l.cfg.Topic: resume})
	}
}

// sorted returns the partitions in hand by number: the same order every time.
func (l *Landing) sorted() []*partition {
	return slices.SortedFunc(maps.Values(l.parts), func(a, b *partition) int {
		return cmp.Compare(a.id, b.id)
	})
}

func (l *Landing) alert(what, format string, args ...any) {
	l.cfg.Alert(Alert{Hop: "landing", What: what, Detail: fmt.Sprintf(format, args...)})
}
