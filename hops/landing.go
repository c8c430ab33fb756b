package hops

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Naming is how landing names objects.
type Naming string

// The two namings. Changing it, or BlockSize, under an existing prefix needs a
// new prefix or a commit that stands at a block boundary.
const (
	// Record stores one object per accepted offset: topic/partition/<offset>.
	// A put replaces without looking, so a topic that is deleted and created
	// again needs a new prefix; block naming notices and stops.
	Record Naming = "record"
	// Block stores one object per aligned range of offsets:
	// topic/partition/<first offset of the range>. A range in which the log
	// has nothing at all gets no object.
	Block Naming = "block"
)

// LandingConfig says what a [Landing] copies, from where to where. Store, Topic,
// DLQ and Group are required; zero values of the rest mean the defaults written
// here.
type LandingConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Store takes the objects.
	Store LandingStore
	// Topic is read, DLQ takes the rejects, Group owns the committed offsets.
	// The DLQ topic must accept records a little larger than Topic does, for
	// the headers that landing adds.
	Topic, DLQ, Group string
	// Naming is Record (the default) or Block.
	Naming Naming
	// BlockSize is the number of offsets in a block. Default 1000.
	BlockSize int
	// FlushAfter is how long a partition must be idle before its partial block
	// is stored and committed. 0: never, the tail waits until its block is whole.
	FlushAfter time.Duration
	// Classic uses the classic group protocol with the eager sticky balancer,
	// instead of server-side assignment (KIP-848).
	Classic bool
	// Retries is how many times in a row a failed put, dead-letter produce or
	// commit is tried again before the partition cools down. Default 4;
	// negative means none.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is how long a partition rests after its retries are used up,
	// before it begins a new round of them. Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one store call, one wait for dead-letter acks, one
	// commit. Default 10 s.
	CallTimeout time.Duration
	// MaxPoll bounds the records taken in one poll, over all partitions, and so
	// the work between two chances to rebalance. Default 500.
	MaxPoll int
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// LandingStore is the part of an [ObjectStore] that landing uses.
type LandingStore interface {
	ObjectPutter
	ObjectConditional
}

// Landing copies a topic into an object store: at-least-once processing into
// names and bytes that depend on the log alone, so that doing it again changes
// nothing. Build one with [NewLanding]; call Run once.
//
// It reads what is in the log, committed or not. For a topic that a transactional
// producer writes, add kgo.FetchIsolationLevel(kgo.ReadCommitted()) to the Kafka
// options, or records of aborted transactions are stored like any other.
//
// An offset is committed only when everything below it is stored or
// dead-lettered, and an error of the store or of Kafka means unknown: the step
// is taken again, from the same offset, until it is known to be done.
type Landing struct {
	cfg     LandingConfig
	client  *kgo.Client
	started atomic.Bool
	hurry   atomic.Bool // a rebalance waits for us
	wakes   []time.Time // when partitions have something to do by themselves

	// Owned by Run between a poll and AllowRebalance, and by the group's
	// callbacks otherwise: the client never lets the two overlap.
	parts  map[int32]*partition
	paused map[int32]bool
	fatal  error
}

// NewLanding returns a landing job that connects and joins its group when Run
// begins. It fails when the configuration cannot work.
func NewLanding(cfg LandingConfig) (*Landing, error) {
	if cfg.Store == nil || cfg.Topic == "" || cfg.DLQ == "" || cfg.Group == "" {
		return nil, errors.New("landing: Store, Topic, DLQ and Group are required")
	}
	cfg.Naming = orDefault(cfg.Naming, Record)
	if cfg.Naming != Record && cfg.Naming != Block {
		return nil, fmt.Errorf("landing: Naming is %q, not %q or %q", cfg.Naming, Record, Block)
	}
	cfg.BlockSize = orDefault(cfg.BlockSize, 1000)
	cfg.Retries = orDefault(cfg.Retries, 4)
	cfg.Backoff = orDefault(cfg.Backoff, 100*time.Millisecond)
	cfg.CoolDown = orDefault(cfg.CoolDown, 30*time.Second)
	cfg.CallTimeout = orDefault(cfg.CallTimeout, 10*time.Second)
	cfg.MaxPoll = orDefault(cfg.MaxPoll, 500)
	if min(cfg.FlushAfter, cfg.Backoff, cfg.CoolDown, cfg.CallTimeout) < 0 ||
		min(cfg.BlockSize, cfg.MaxPoll) < 0 {
		return nil, errors.New("landing: durations, BlockSize and MaxPoll must not be negative")
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	l := &Landing{
		cfg:    cfg,
		parts:  make(map[int32]*partition),
		paused: make(map[int32]bool),
	}
	if err := kgo.ValidateOpts(l.options()...); err != nil {
		return nil, fmt.Errorf("landing: %w", err)
	}
	return l, nil
}

func orDefault[T comparable](value, standard T) T {
	var zero T
	if value == zero {
		return standard
	}
	return value
}

func (l *Landing) options() []kgo.Opt {
	balancer := kgo.ServerSideBalancer()
	if l.cfg.Classic {
		// Eager on purpose: every rebalance revokes all. A cooperative member that
		// the group threw out while it was busy rejoins under a new id, keeps its
		// partitions without hearing that they were lost, and would then commit
		// old work over that of the owner in between.
		balancer = kgo.Balancers(kgo.StickyBalancer())
	}
	return append([]kgo.Opt{
		kgo.ConsumerGroup(l.cfg.Group),
		kgo.ConsumeTopics(l.cfg.Topic),
		balancer,
		// A commit is a statement about the store, so only landing makes it.
		kgo.DisableAutoCommit(),
		// Earliest, at the start and whenever the log has moved under us.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// A partition must not change hands between its put and its commit.
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsRevoked(l.drop),
		kgo.OnPartitionsLost(l.drop),
		kgo.OnPartitionsCallbackBlocked(func(context.Context, *kgo.Client) {
			l.hurry.Store(true)
		}),
		// The dead-letter producer: idempotent by default, and never cancelled.
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// The default of 1,000,012 is also a player's largest batch; a reject of
		// that size still has to fit with its headers. Brokers take 1,048,588.
		kgo.ProducerBatchMaxBytes(1_040_000),
	}, l.cfg.Kafka...)
}

// Run lands until ctx ends, then stops gracefully: it drops what is not
// resolved, commits what is, leaves the group and returns nil. If partitions
// are stopped by damage at that moment, it returns their [*DamageError]s
// instead, joined. It returns early only when it cannot go on: another process
// runs under the same static instance id.
func (l *Landing) Run(ctx context.Context) error {
	if l.started.Swap(true) {
		return errors.New("landing: Run was called before")
	}
	client, err := kgo.NewClient(l.options()...)
	if err != nil {
		return fmt.Errorf("landing: creating the Kafka client: %w", err)
	}
	l.client = client
	defer client.CloseAllowingRebalance()
	for l.fatal == nil && l.round(ctx) {
	}
	return l.stop(ctx)
}

// stop makes the last commits and leaves the group, within twice CallTimeout.
func (l *Landing) stop(ctx context.Context) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	l.client.PollRecords(over, 1) // takes no records, but holds rebalances back

	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 2*l.cfg.CallTimeout)
	defer cancel()
	result := l.fatal
	for _, p := range l.sorted() {
		if p.damage != nil {
			result = errors.Join(result, p.damage)
			continue
		}
		if p.done > p.committed {
			// Unknown is fine here: whoever comes next does the same again.
			_ = l.commit(ctx, p)
		}
	}
	l.client.AllowRebalance()           // or leaving would wait for us
	_ = l.client.LeaveGroupContext(ctx) // if lost, the session timeout does it
	return result
}
