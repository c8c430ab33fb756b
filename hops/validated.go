package hops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ValidatedConfig says what a [Validated] copies, from where to where. Input,
// Output, Group and Instance are required; zero values of the rest mean the
// defaults written here.
type ValidatedConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Input is read, Output takes what the contract accepts, Group owns the
	// committed offsets. Nobody else may commit for that group.
	Input, Output, Group string
	// Instance names this member of the group: the same after a restart, and
	// never the same as that of a member that runs at the same time. The
	// transactional id is made of it.
	Instance string
	// Classic uses the classic group protocol with the eager sticky balancer,
	// instead of server-side assignment (KIP-848).
	Classic bool
	// TransactionTimeout is when the coordinator aborts a transaction that was
	// left open, and so how long a dead member can hold readers back. Default
	// 15 s.
	TransactionTimeout time.Duration
	// MaxPoll bounds the records of one poll, and so of one transaction.
	// Default 500.
	MaxPoll int
	// MaxBatchTime is how long the output of one transaction may take to be
	// acknowledged before the transaction is aborted. It must be below
	// TransactionTimeout. Default half of it.
	MaxBatchTime time.Duration
	// Backoff is the wait after a failure; it doubles up to CoolDown as long as
	// nothing succeeds. Default 100 ms.
	Backoff time.Duration
	// CoolDown is the longest wait after a failure. Default 5 s.
	CoolDown time.Duration
	// CallTimeout bounds one try to end a transaction or to ask the group for its
	// offsets, after which its outcome is unknown. Default 30 s.
	CallTimeout time.Duration
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// TransactionalID is the identity under which this instance writes. Two live
// processes that share it fence each other.
func (cfg ValidatedConfig) TransactionalID() string {
	return "progress-validated-" + cfg.Group + "/" + cfg.Instance
}

// FencedError says that another process owns the identity now: it initialised
// the same transactional id, or joined under the same static group instance, or
// the coordinator gave up on a transaction of ours and moved the epoch on.
// Starting again in the same process would fence the other one in turn, so
// [Validated.Run] ends with this error, and an operator decides.
type FencedError struct {
	TransactionalID string
	Err             error
}

// Error names the identity and says what to do.
func (e *FencedError) Error() string {
	return fmt.Sprintf("validated: fenced as %s, do not restart while another instance owns it: %v",
		e.TransactionalID, e.Err)
}

// Unwrap returns the cause.
func (e *FencedError) Unwrap() error { return e.Err }

// Validated copies the records that the contract accepts from one topic to
// another, exactly once inside Kafka: the output of a poll and the group's next
// offsets are one transaction, and readers of the output use read_committed.
// Build one with [NewValidated]; call Run once.
//
// A record keeps its key, value and headers, and gets the three origin headers
// (see [OriginOf]). They say which input an output is of, which no other part of
// a record does: with them a reader can check the claim, and an operator can
// trace a record back.
type Validated struct {
	cfg     ValidatedConfig
	session *kgo.GroupTransactSession
	started atomic.Bool
	seen    map[int32]bool // partitions whose offsets may have to be asked for
	failed  int            // rounds in a row that achieved nothing

	fenced atomic.Pointer[error] // what a produce was answered, if that is final

	// moves counts how often partitions went away. It is guarded by assign, which
	// is also held while positions are set; see [Validated.rewind].
	assign sync.Mutex
	moves  int
}

// NewValidated returns a processor that connects and joins its group when Run
// begins. It fails when the configuration cannot work.
func NewValidated(cfg ValidatedConfig) (*Validated, error) {
	if cfg.Input == "" || cfg.Output == "" || cfg.Group == "" || cfg.Instance == "" {
		return nil, errors.New("validated: Input, Output, Group and Instance are required")
	}
	if cfg.Input == cfg.Output {
		return nil, errors.New("validated: Input and Output must differ")
	}
	cfg.TransactionTimeout = orDefault(cfg.TransactionTimeout, 15*time.Second)
	cfg.MaxPoll = orDefault(cfg.MaxPoll, 500)
	cfg.MaxBatchTime = orDefault(cfg.MaxBatchTime, cfg.TransactionTimeout/2)
	cfg.Backoff = orDefault(cfg.Backoff, 100*time.Millisecond)
	cfg.CoolDown = orDefault(cfg.CoolDown, 5*time.Second)
	cfg.CallTimeout = orDefault(cfg.CallTimeout, 30*time.Second)
	if min(cfg.TransactionTimeout, cfg.MaxBatchTime, cfg.Backoff, cfg.CoolDown,
		cfg.CallTimeout) < 0 || cfg.MaxPoll < 0 {
		return nil, errors.New("validated: durations and MaxPoll must not be negative")
	}
	if cfg.MaxBatchTime >= cfg.TransactionTimeout {
		return nil, fmt.Errorf("validated: MaxBatchTime is %v, not below TransactionTimeout, %v",
			cfg.MaxBatchTime, cfg.TransactionTimeout)
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	v := &Validated{cfg: cfg, seen: make(map[int32]bool)}
	if err := kgo.ValidateOpts(v.options()...); err != nil {
		return nil, fmt.Errorf("validated: %w", err)
	}
	return v, nil
}

func (v *Validated) options() []kgo.Opt {
	balancer := kgo.ServerSideBalancer()
	if v.cfg.Classic {
		// Eager on purpose, for the reason that landing has: a cooperative member
		// that was thrown out keeps its partitions without hearing of it. The
		// session looks at its callbacks alone, and would commit what it had
		// polled before under the generation that it has now.
		balancer = kgo.Balancers(kgo.StickyBalancer())
	}
	return append([]kgo.Opt{
		kgo.ConsumerGroup(v.cfg.Group),
		kgo.ConsumeTopics(v.cfg.Input),
		balancer,
		kgo.TransactionalID(v.cfg.TransactionalID()),
		kgo.TransactionTimeout(v.cfg.TransactionTimeout),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Offsets are committed by transactions and by nothing else. Those of an open
		// transaction are waited for when a partition comes: the client always does.
		kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsRevoked(v.gone),
		kgo.OnPartitionsLost(v.gone),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// A produce request is given up while there is time to abort.
		kgo.ProduceRequestTimeout(max(v.cfg.TransactionTimeout/6, 100*time.Millisecond)),
		// A batch whose answer was lost is tried again after a look at the metadata,
		// and cannot be taken back before it is answered. With the default of 5 s
		// three lost answers outlast the transaction.
		kgo.MetadataMinAge(time.Second),
		// The origin headers make a record larger than it was; see landing.
		kgo.ProducerBatchMaxBytes(1_040_000),
	}, v.cfg.Kafka...)
}

// Run copies until ctx ends, then stops gracefully: it commits or aborts the
// transaction at hand, leaves the group and returns nil. It returns early with a
// [*FencedError] when another process owns its identity, and with another error
// when the broker refuses the producer for good.
func (v *Validated) Run(ctx context.Context) error {
	if v.started.Swap(true) {
		return errors.New("validated: Run was called before")
	}
	session, err := kgo.NewGroupTransactSession(v.options()...)
	if err != nil {
		return fmt.Errorf("validated: creating the Kafka client: %w", err)
	}
	v.session = session
	defer session.CloseAllowingRebalance()
	defer v.closeLate(ctx)()
	for ctx.Err() == nil {
		if err = v.round(ctx); err != nil {
			break
		}
	}
	if err != nil {
		return v.fatal(err)
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.cfg.CallTimeout)
	defer cancel()
	_ = session.Client().LeaveGroupContext(leave) // if lost, the session timeout does it
	return nil
}

// closeLate closes the client if a stop takes too long: beginning a transaction
// takes no context, and waits for a coordinator as long as that answers "later".
func (v *Validated) closeLate(ctx context.Context) (done func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		late := time.NewTimer(2 * v.cfg.CallTimeout)
		defer late.Stop()
		select {
		case <-over:
		case <-late.C:
			v.session.CloseAllowingRebalance()
		}
	}()
	return func() { close(over) }
}

// fatal raises the alert of an error that ends Run.
func (v *Validated) fatal(err error) error {
	if isFenced(err) {
		fenced := &FencedError{TransactionalID: v.cfg.TransactionalID(), Err: err}
		v.alert(AlertFenced, "%v", fenced)
		return fenced
	}
	v.alert(AlertStopped, "%v", err)
	return fmt.Errorf("validated: %w", err)
}

// isFenced says whether an answer means that this process no longer owns its
// identity. A member that the group threw out is not fenced: its transactional
// id is still its own, and it joins again.
func isFenced(err error) bool {
	return errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch) ||
		errors.Is(err, kerr.FencedInstanceID)
}

func (v *Validated) alert(what, format string, args ...any) {
	v.cfg.Alert(Alert{Hop: "validated", What: what, Detail: fmt.Sprintf(format, args...)})
}
