package hops

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Naming is how landing names objects.
type Naming string

// The two namings.
const (
	// Record stores one object per accepted offset: topic/partition/<offset>.
	Record Naming = "record"
	// Block stores one object per aligned range of offsets:
	// topic/partition/<first offset of the range>.
	Block Naming = "block"
)

// LandingConfig says what a [Landing] copies, from where to where. Store, Topic,
// DLQ and Group are required; zero values of the rest mean the defaults written
// here.
type LandingConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Store takes the objects.
	Store ObjectStore
	// Topic is read, DLQ takes the rejects, Group owns the committed offsets.
	Topic, DLQ, Group string
	// Naming is Record (the default) or Block.
	Naming Naming
	// BlockSize is the number of offsets in a block. Default 1000.
	BlockSize int
	// FlushAfter is how long a partition must be idle before its partial block
	// is stored and committed. 0: never, the tail waits until its block is whole.
	FlushAfter time.Duration
	// Classic uses the classic group protocol, with an eager-free cooperative
	// balancer, instead of the server-side one (KIP-848).
	Classic bool
	// Retries is how many times in a row a failed put, dead-letter produce or
	// commit is tried again before the partition cools down. Default 4.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is how long a partition rests after its retries are used up.
	// Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one store call, one wait for a dead-letter ack, one
	// commit. Default 10 s.
	CallTimeout time.Duration
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// Headers of a dead-lettered record. They follow the record's own headers.
const (
	HeaderTopic     = "origin-topic"
	HeaderPartition = "origin-partition" // decimal
	HeaderOffset    = "origin-offset"    // decimal
	HeaderReason    = "reason"
)

// Landing copies a topic into an object store. One goroutine calls Run, once.
type Landing struct{}

// NewLanding returns a landing job that joins its group when Run begins.
func NewLanding(cfg LandingConfig) (*Landing, error) { return nil, errors.ErrUnsupported }

// Run lands until ctx ends, then stops gracefully and returns nil.
func (l *Landing) Run(ctx context.Context) error { return errors.ErrUnsupported }

// Line is one offset in the body of an object.
type Line struct {
	Offset    int64
	Timestamp int64 // milliseconds since the Unix epoch
	Key       []byte
	Value     []byte
	Reject    string
	Hole      bool
}

// ParseBody reads the body of an object.
func ParseBody(body []byte) ([]Line, error) { return nil, errors.ErrUnsupported }
