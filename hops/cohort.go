package hops

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// CohortConfig says what a [Cohort] folds, from where to where. Store, Topic and
// Prefix are required; zero values of the rest mean the defaults written here.
type CohortConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Store takes the snapshots.
	Store ObjectConditional
	// Topic is read. No group is: the snapshots alone say where to go on.
	Topic string
	// Prefix is the folder of the snapshots, as [TileConfig] has it.
	Prefix string
	// Every is the least time between two snapshots of a partition. Default 1 s.
	Every time.Duration
	// Discover is the time between two looks for new partitions. Default 30 s.
	Discover time.Duration
	// Retries is how many failures in a row are followed by another try before an
	// alert and a rest of CoolDown. Default 4; negative means none.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is the rest after the retries are used up. Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one call of the store, and one look at the topic. Default
	// 10 s.
	CallTimeout time.Duration
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// Cohort folds the enrollment topic: for each key the change with the greatest
// source_lsn, and from it the seats of each course. Duplicates, in any number and
// at any distance, change nothing. Build one with [NewCohort]; call Run once.
// [ReadCohort] reads what it stores.
//
// Each partition's fold is one object, which holds the offset to go on from, so the
// two never disagree. It is replaced only as long as it is what this cohort has
// read or written last. Of two cohorts on one prefix one wins each snapshot; the
// other raises an alert, reads what is there, and goes on from it.
//
// A record that is no change is counted and passed over, with an alert.
type Cohort struct {
	cfg     CohortConfig
	calls   patience
	started atomic.Bool
	behind  map[int32]bool // partitions that were told of as too short
}

// CohortDamageError says that a snapshot and the topic do not fit together, or that
// a snapshot cannot be read, so that going on would lose changes. Nothing was
// changed. Key is the snapshot, Reason what is wrong.
type CohortDamageError struct{ Key, Reason string }

// Error names the snapshot, what is wrong, and what to do.
func (e *CohortDamageError) Error() string {
	return fmt.Sprintf("cohort refuses to go on: %s: %s; publish a snapshot of the table to the "+
		"topic, remove this object, and start the cohort again: it then folds what the topic has",
		e.Key, e.Reason)
}

// errConflict says that a snapshot is not the one that this cohort goes on from.
var errConflict = errors.New("it was written by another cohort on the same prefix, or by a " +
	"run before this one whose last write came late")

// NewCohort returns a cohort that connects when Run begins. It fails when the
// configuration cannot work.
func NewCohort(cfg CohortConfig) (*Cohort, error) {
	if cfg.Store == nil || cfg.Topic == "" || cfg.Prefix == "" {
		return nil, errors.New("cohort: Store, Topic and Prefix are required")
	}
	if !prefixForm.MatchString(cfg.Prefix) {
		return nil, fmt.Errorf("cohort: Prefix %q is not letters, digits and ._=- in folders",
			cfg.Prefix)
	}
	cfg.Every = orDefault(cfg.Every, time.Second)
	cfg.Discover = orDefault(cfg.Discover, 30*time.Second)
	calls, ok := patient(cfg.Retries, cfg.Backoff, cfg.CoolDown, cfg.CallTimeout)
	if !ok || min(cfg.Every, cfg.Discover) < 0 {
		return nil, errors.New("cohort: durations must not be negative")
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	c := &Cohort{cfg: cfg, calls: calls, behind: make(map[int32]bool)}
	if err := kgo.ValidateOpts(c.options()...); err != nil {
		return nil, fmt.Errorf("cohort: %w", err)
	}
	return c, nil
}

func (c *Cohort) options() []kgo.Opt {
	return append([]kgo.Opt{
		// No partition yet: each is added when its snapshot says where to begin.
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.cfg.Topic: {}}),
		// Never at another offset than the one asked for.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	}, c.cfg.Kafka...)
}

// Run folds until ctx ends, and then returns nil: what is not in a snapshot yet is
// folded again by the next run. It returns early with a [*CohortDamageError].
func (c *Cohort) Run(ctx context.Context) error {
	if c.started.Swap(true) {
		return errors.New("cohort: Run was called before")
	}
	for ctx.Err() == nil {
		what, err := c.session(ctx)
		var damage *CohortDamageError
		if errors.As(err, &damage) {
			c.alert(AlertDamage, "%v", damage)
			return damage
		}
		if ctx.Err() != nil {
			break
		}
		wait, spent := c.calls.failed()
		if what == AlertConflict {
			c.alert(what, "%v", err)
		} else if spent {
			c.alert(what, "resting for %v, nothing is lost: %v", wait, err)
		}
		sleep(ctx, wait)
	}
	return nil
}

func (c *Cohort) key(partition int32) string {
	return fmt.Sprintf("%s/%d", c.cfg.Prefix, partition)
}

func (c *Cohort) damaged(partition int32, format string, args ...any) error {
	return &CohortDamageError{Key: c.key(partition), Reason: fmt.Sprintf(format, args...)}
}

func (c *Cohort) alert(what, format string, args ...any) {
	c.cfg.Alert(Alert{Hop: "cohort", What: what, Detail: fmt.Sprintf(format, args...)})
}
