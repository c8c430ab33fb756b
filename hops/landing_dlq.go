package hops

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Headers of a dead-lettered record. They follow the record's own headers. A
// reader that folds on the three origin headers sees each reject once, however
// often it was produced.
const (
	HeaderTopic     = "origin-topic"
	HeaderPartition = "origin-partition" // decimal
	HeaderOffset    = "origin-offset"    // decimal
	HeaderReason    = "reason"           // one of the Reason constants
)

// deadLetter is one produce to the dead-letter topic. done is closed when err is
// final.
type deadLetter struct {
	done chan struct{}
	err  error
}

// bury dead-letters the rejects among items and waits for their acks, at most
// CallTimeout. A produce without an answer stays under way and is waited for
// again by the next try: producing once more would only add a copy.
func (l *Landing) bury(ctx context.Context, items []*item) error {
	for _, it := range items {
		if it.reject != "" && !it.resolved && it.dead == nil {
			it.dead = l.produceDead(it)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	for _, it := range items {
		if it.reject == "" || it.resolved {
			continue
		}
		select {
		case <-it.dead.done:
		case <-ctx.Done():
			return fmt.Errorf("dead-lettering offset %d: no reply yet: %w",
				it.record.Offset, ctx.Err())
		}
		if err := it.dead.err; err != nil {
			it.dead = nil
			return fmt.Errorf("dead-lettering offset %d: %w", it.record.Offset, err)
		}
		it.resolved = true
	}
	return nil
}

// produceDead starts one produce. Its context never ends: a record that may
// have been written cannot be taken back.
func (l *Landing) produceDead(it *item) *deadLetter {
	letter := &deadLetter{done: make(chan struct{})}
	origin := it.record
	record := &kgo.Record{
		Topic: l.cfg.DLQ,
		Key:   origin.Key,
		Value: origin.Value,
		Headers: append(slices.Clone(origin.Headers),
			kgo.RecordHeader{Key: HeaderTopic, Value: []byte(origin.Topic)},
			kgo.RecordHeader{
				Key:   HeaderPartition,
				Value: strconv.AppendInt(nil, int64(origin.Partition), 10),
			},
			kgo.RecordHeader{Key: HeaderOffset, Value: strconv.AppendInt(nil, origin.Offset, 10)},
			kgo.RecordHeader{Key: HeaderReason, Value: []byte(it.reject)},
		),
	}
	l.client.TryProduce(context.Background(), record, func(r *kgo.Record, err error) {
		if err == nil && r.Offset < 0 {
			err = errNoOffset
		}
		letter.err = err
		close(letter.done)
	})
	return letter
}
