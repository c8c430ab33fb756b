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

// DLQReaderConfig says what a [DLQReader] reads. Topic is required.
type DLQReaderConfig struct {
	// Kafka options come last, after the reader's own.
	Kafka []kgo.Opt
	// Topic takes the rejects of [Landing].
	Topic string
	// Backoff is the wait before a failed request is made again. Default 500 ms.
	Backoff time.Duration
}

// Rejected is one input record that the contract refused. Origin says which, and
// Copies how often it was dead-lettered: a landing job that lost an answer does
// it again. Key, Value and Reason are those of the first copy.
type Rejected struct {
	Origin     Origin
	Reason     string
	Key, Value []byte
	Copies     int
}

// DLQReader shows each reject once, however many copies of it there are. It
// belongs to no group and commits nothing. It is safe for concurrent use.
type DLQReader struct{ cfg DLQReaderConfig }

// NewDLQReader returns a reader that connects when it reads.
func NewDLQReader(cfg DLQReaderConfig) (*DLQReader, error) {
	if cfg.Topic == "" {
		return nil, errors.New("dlq reader: Topic is required")
	}
	if cfg.Backoff < 0 {
		return nil, errors.New("dlq reader: Backoff must not be negative")
	}
	cfg.Backoff = orDefault(cfg.Backoff, 500*time.Millisecond)
	if err := kgo.ValidateOpts(cfg.Kafka...); err != nil {
		return nil, fmt.Errorf("dlq reader: %w", err)
	}
	return &DLQReader{cfg: cfg}, nil
}

// ReadAll reads the topic once, from its start to where it ended at the beginning
// of the call, and returns the rejects ordered by origin. A record without origin
// headers was not put there by landing: its origin is itself, so nothing is ever
// folded into it and nothing is left out.
//
// Errors that may pass are waited out until ctx ends; ReadAll returns everything
// or an error.
func (r *DLQReader) ReadAll(ctx context.Context) ([]Rejected, error) {
	records, err := readWhole(ctx, wholeTopic{
		kafka: r.cfg.Kafka, topic: r.cfg.Topic, isolation: ReadCommitted, backoff: r.cfg.Backoff,
	})
	if err != nil {
		return nil, fmt.Errorf("dlq reader: %w", err)
	}
	return foldRejects(records), nil
}

func foldRejects(records []*kgo.Record) []Rejected {
	var rejects []Rejected
	at := make(map[Origin]int)
	for _, record := range records {
		origin, ok := OriginOf(record)
		if !ok {
			origin = Origin{record.Topic, record.Partition, record.Offset}
		}
		if i, ok := at[origin]; ok {
			rejects[i].Copies++
			continue
		}
		at[origin] = len(rejects)
		rejects = append(rejects, Rejected{
			Origin: origin, Reason: lastHeader(record, HeaderReason),
			Key: record.Key, Value: record.Value, Copies: 1,
		})
	}
	slices.SortFunc(rejects, func(a, b Rejected) int {
		return cmp.Or(
			cmp.Compare(a.Origin.Topic, b.Origin.Topic),
			cmp.Compare(a.Origin.Partition, b.Origin.Partition),
			cmp.Compare(a.Origin.Offset, b.Origin.Offset),
		)
	})
	return rejects
}
