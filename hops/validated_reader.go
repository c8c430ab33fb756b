package hops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Isolation says which records of a transactional topic a reader sees.
type Isolation string

// The two isolation levels.
const (
	// ReadCommitted shows records of committed transactions, and no record above
	// the first one of a transaction that is still open.
	ReadCommitted Isolation = "read_committed"
	// ReadUncommitted shows everything, including what was aborted.
	ReadUncommitted Isolation = "read_uncommitted"
)

func (i Isolation) level() kgo.IsolationLevel {
	if i == ReadUncommitted {
		return kgo.ReadUncommitted()
	}
	return kgo.ReadCommitted()
}

// ValidatedReaderConfig says what a [ValidatedReader] reads. Topic is required.
type ValidatedReaderConfig struct {
	// Kafka options come last, after the reader's own.
	Kafka []kgo.Opt
	// Topic is the output of [Validated].
	Topic string
	// Isolation is ReadCommitted (the default) or ReadUncommitted. Whoever counts
	// needs the former.
	Isolation Isolation
	// Backoff is the wait before a failed request is made again. Default 500 ms.
	Backoff time.Duration
	// Alert, if set, hears what an operator must know. It must not block.
	Alert func(Alert)
}

// Seen is one record as a reader saw it. Origin is set if HasOrigin is: the
// record has the three origin headers.
type Seen struct {
	Partition  int32
	Offset     int64
	Key, Value []byte
	Origin     Origin
	HasOrigin  bool
}

func seen(record *kgo.Record) Seen {
	origin, ok := OriginOf(record)
	return Seen{record.Partition, record.Offset, record.Key, record.Value, origin, ok}
}

// ValidatedReader reads the output of [Validated] from its start. It belongs to
// no group and commits nothing. Its methods are safe for concurrent use.
type ValidatedReader struct{ cfg ValidatedReaderConfig }

// NewValidatedReader returns a reader that connects when it reads.
func NewValidatedReader(cfg ValidatedReaderConfig) (*ValidatedReader, error) {
	if cfg.Topic == "" {
		return nil, errors.New("validated reader: Topic is required")
	}
	cfg.Isolation = orDefault(cfg.Isolation, ReadCommitted)
	if cfg.Isolation != ReadCommitted && cfg.Isolation != ReadUncommitted {
		return nil, fmt.Errorf("validated reader: Isolation is %q, not %q or %q",
			cfg.Isolation, ReadCommitted, ReadUncommitted)
	}
	if cfg.Backoff < 0 {
		return nil, errors.New("validated reader: Backoff must not be negative")
	}
	cfg.Backoff = orDefault(cfg.Backoff, 500*time.Millisecond)
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	r := &ValidatedReader{cfg: cfg}
	if err := kgo.ValidateOpts(r.options()...); err != nil {
		return nil, fmt.Errorf("validated reader: %w", err)
	}
	return r, nil
}

func (r *ValidatedReader) options() []kgo.Opt {
	return append([]kgo.Opt{
		kgo.ConsumeTopics(r.cfg.Topic),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(r.cfg.Isolation.level()),
	}, r.cfg.Kafka...)
}

// ReadAll reads the topic once, from its start to where it ended at the beginning
// of the call: up to the last stable offset, or to the high watermark with
// [ReadUncommitted]. The records are ordered by partition and offset.
//
// Errors that may pass are waited out until ctx ends; ReadAll returns everything
// or an error.
func (r *ValidatedReader) ReadAll(ctx context.Context) ([]Seen, error) {
	records, err := readWhole(ctx, wholeTopic{
		kafka: r.cfg.Kafka, topic: r.cfg.Topic, isolation: r.cfg.Isolation,
		backoff: r.cfg.Backoff,
	})
	if err != nil {
		return nil, fmt.Errorf("validated reader: %w", err)
	}
	all := make([]Seen, len(records))
	for i, record := range records {
		all[i] = seen(record)
	}
	slices.SortStableFunc(all, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return all, nil
}

// Run reads from the start of the topic and goes on until ctx ends, then returns
// nil. It calls each for every record, in the order of each partition, from one
// goroutine.
func (r *ValidatedReader) Run(ctx context.Context, each func(Seen)) error {
	client, err := kgo.NewClient(r.options()...)
	if err != nil {
		return fmt.Errorf("validated reader: creating the Kafka client: %w", err)
	}
	defer client.Close()
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		if fetches.IsClientClosed() {
			return fmt.Errorf("validated reader: %w", kgo.ErrClientClosed)
		}
		fetches.EachRecord(func(record *kgo.Record) { each(seen(record)) })
		if fetches.Err() == nil || ctx.Err() != nil {
			continue
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			r.cfg.Alert(Alert{"validated reader", AlertFetchFailed,
				fmt.Sprintf("%s/%d: %v", topic, partition, err)})
		})
		sleep(ctx, r.cfg.Backoff) // the same error may come back at once
	}
	return nil
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
