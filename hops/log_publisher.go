package hops

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// LogPublisherConfig says what a [LogPublisher] publishes, from where to where. Log
// and Topic are required; zero values of the rest mean the defaults written here.
type LogPublisherConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Log is the replication slot. Run is its only user.
	Log ChangeLog
	// Topic is where the changes go.
	Topic string
	// Window bounds the changes that are sent and not yet confirmable, up to 10,000.
	// Default 500.
	Window int
	// ConfirmEvery is the least time between two confirmations while changes are in
	// flight. Default 1 s.
	ConfirmEvery time.Duration
	// AckTimeout is how long a change may be without an acknowledgement before the
	// stream is begun again. Default 30 s.
	AckTimeout time.Duration
	// Silence is how long the log may send nothing, not even a keepalive, before the
	// stream is begun again. Default 30 s.
	Silence time.Duration
	// Retries is how many failures in a row are followed by another try before an
	// alert and a rest of CoolDown. Default 4; negative means none.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is the rest after the retries are used up. Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one call of the log, besides that for the next change.
	// Default 10 s.
	CallTimeout time.Duration
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// LogPublisher publishes the changes of a replication slot: at least once, and the
// first copies of a key's changes in the order of their commits. Build one with
// [NewLogPublisher]; call Run once. A second one on the same slot waits until the
// slot is free.
//
// It confirms a position when every change up to it is acknowledged, and never one
// above: not even a keepalive's while a change is in flight. After any failure it
// streams again from the last position that it knows to be acknowledged; a new
// process begins where the slot stands. Changes above either are published twice.
type LogPublisher struct {
	cfg      LogPublisherConfig
	calls    patience
	producer *changeProducer
	started  atomic.Bool
	standby  bool   // and told so
	acked    string // everything up to here is acknowledged; "": the slot knows
}

// SlotLostError says that the slot no longer has all changes after Acked, the last
// position that this publisher knows to be published ("": none yet). They are in
// the database's tables, but nothing will ever stream them. [LogPublisher.Run] ends
// with this error rather than go on behind the gap.
type SlotLostError struct {
	Acked string
	Err   error
}

// Error names the position and says what to do.
func (e *SlotLostError) Error() string {
	after := "the last change that was published"
	if e.Acked != "" {
		after = e.Acked
	}
	return fmt.Sprintf("log publisher stops: the slot has lost changes after %s: %v; create the "+
		"slot anew, publish a snapshot of the table taken at its starting point, and only then "+
		"start the publisher again", after, e.Err)
}

// Unwrap returns the cause.
func (e *SlotLostError) Unwrap() error { return e.Err }

// NewLogPublisher returns a publisher that connects when Run begins. It fails when
// the configuration cannot work.
func NewLogPublisher(cfg LogPublisherConfig) (*LogPublisher, error) {
	if cfg.Log == nil || cfg.Topic == "" {
		return nil, errors.New("log publisher: Log and Topic are required")
	}
	cfg.Window = orDefault(cfg.Window, 500)
	cfg.ConfirmEvery = orDefault(cfg.ConfirmEvery, time.Second)
	cfg.AckTimeout = orDefault(cfg.AckTimeout, 30*time.Second)
	cfg.Silence = orDefault(cfg.Silence, 30*time.Second)
	calls, ok := patient(cfg.Retries, cfg.Backoff, cfg.CoolDown, cfg.CallTimeout)
	if !ok || min(cfg.ConfirmEvery, cfg.AckTimeout, cfg.Silence) < 0 || cfg.Window < 0 {
		return nil, errors.New("log publisher: durations and Window must not be negative")
	}
	if cfg.Window > mostInFlight {
		return nil, fmt.Errorf("log publisher: Window is %d, more than %d",
			cfg.Window, mostInFlight)
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	producer, err := newChangeProducer(cfg.Topic, cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("log publisher: %w", err)
	}
	return &LogPublisher{cfg: cfg, calls: calls, producer: producer}, nil
}

// Run publishes until ctx ends, waits for the acknowledgements of what is in
// flight, within AckTimeout, confirms it and returns nil. It returns early with a
// [*SlotLostError].
func (p *LogPublisher) Run(ctx context.Context) error {
	if p.started.Swap(true) {
		return errors.New("log publisher: Run was called before")
	}
	defer p.producer.discard()
	for ctx.Err() == nil {
		err := p.stream(ctx)
		if slotSays(err, slotLost.SlotLost) {
			lost := &SlotLostError{Acked: p.acked, Err: err}
			p.alert(AlertSlotGone, "%v", lost)
			return lost
		}
		if ctx.Err() == nil {
			sleep(ctx, p.failed(err))
		}
	}
	return nil
}

// What an error of a [ChangeLog] may say of the slot.
type (
	slotLost   interface{ SlotLost() bool }
	slotActive interface{ SlotActive() bool }
)

// slotSays reports whether an error in err's chain answers a question with yes.
func slotSays[E any](err error, question func(E) bool) bool {
	var answers E
	return errors.As(err, &answers) && question(answers)
}

// failed takes note of a stream that ended and says how long to rest.
func (p *LogPublisher) failed(err error) time.Duration {
	wait, spent := p.calls.failed()
	var publish *publishError
	switch {
	case !spent: // also a slot that our own last connection still holds, for a moment
	case slotSays(err, slotActive.SlotActive):
		if !p.standby {
			p.alert(AlertStandby, "waiting until the slot is free: %v", err)
		}
		p.standby = true
	case errors.As(err, &publish):
		p.alert(AlertPublishFailed, "resting for %v, nothing is lost: %v", wait, err)
	default:
		p.alert(AlertStreamFailed, "resting for %v, nothing is lost: %v", wait, err)
	}
	return wait
}

func (p *LogPublisher) alert(what, format string, args ...any) {
	p.cfg.Alert(Alert{Hop: "log publisher", What: what, Detail: fmt.Sprintf(format, args...)})
}
