package hops

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// PollerConfig says what a [Poller] publishes, from where to where. Outbox and
// Topic are required; zero values of the rest mean the defaults written here.
type PollerConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Outbox is the table of changes to publish.
	Outbox Outbox
	// Topic is where they go.
	Topic string
	// Batch bounds the rows of one claim, up to 10,000. Default 100.
	Batch int
	// Idle is the wait when there was nothing to claim. Default 1 s.
	Idle time.Duration
	// AckTimeout bounds how long a claim, and with it a transaction of the database,
	// is held for acknowledgements. Then it is released, and made again. Default
	// 30 s.
	AckTimeout time.Duration
	// Retries is how many failures in a row are followed by another try before an
	// alert and a rest of CoolDown. Default 4; negative means none.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is the rest after the retries are used up. Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one call of the outbox. Default 10 s.
	CallTimeout time.Duration
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// Poller publishes the rows of an outbox: at least once, and the first copies of a
// key's changes in the order of its commits. Build one with [NewPoller]; call Run
// once. Several may run on one outbox.
//
// It claims rows, publishes them, and marks them when every one is acknowledged. A
// claim of which one row is not acknowledged is released whole: some of its rows
// may then be published twice. A row that the broker refuses for good stays at the
// head of the outbox, with alerts; skipping it would lose it.
//
// The order holds if the application locks the enrollment's row before it writes
// the outbox row; see [Registrar.Enroll].
type Poller struct {
	cfg      PollerConfig
	calls    patience
	producer *changeProducer
	started  atomic.Bool
}

// NewPoller returns a poller that connects to Kafka with its first claim. It fails
// when the configuration cannot work.
func NewPoller(cfg PollerConfig) (*Poller, error) {
	if cfg.Outbox == nil || cfg.Topic == "" {
		return nil, errors.New("poller: Outbox and Topic are required")
	}
	cfg.Batch = orDefault(cfg.Batch, 100)
	cfg.Idle = orDefault(cfg.Idle, time.Second)
	cfg.AckTimeout = orDefault(cfg.AckTimeout, 30*time.Second)
	calls, ok := patient(cfg.Retries, cfg.Backoff, cfg.CoolDown, cfg.CallTimeout)
	if !ok || min(cfg.Idle, cfg.AckTimeout) < 0 || cfg.Batch < 0 {
		return nil, errors.New("poller: durations and Batch must not be negative")
	}
	if cfg.Batch > mostInFlight {
		return nil, fmt.Errorf("poller: Batch is %d, more than %d", cfg.Batch, mostInFlight)
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	producer, err := newChangeProducer(cfg.Topic, cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("poller: %w", err)
	}
	return &Poller{cfg: cfg, calls: calls, producer: producer}, nil
}

// Run publishes until ctx ends, finishes the claim in hand, within AckTimeout and
// CallTimeout, and returns nil.
func (p *Poller) Run(ctx context.Context) error {
	if p.started.Swap(true) {
		return errors.New("poller: Run was called before")
	}
	defer p.producer.discard()
	for ctx.Err() == nil {
		sleep(ctx, p.round(ctx))
	}
	return nil
}

// round publishes one claim and says how long to rest.
func (p *Poller) round(ctx context.Context) time.Duration {
	var claim uint64
	var keys []string
	var values [][]byte
	err := p.calls.once(ctx, func(ctx context.Context) (err error) {
		claim, keys, values, err = p.cfg.Outbox.Claim(ctx, p.cfg.Batch)
		return err
	})
	switch {
	case err != nil:
		return p.failed(ctx, AlertOutboxFailed, fmt.Errorf("claiming rows: %w", err))
	case claim == 0:
		p.calls.succeeded()
		return p.cfg.Idle
	}
	// From here on the end of ctx is not looked at: a claim is finished, in bounded
	// time, or its rows would be published again.
	if err := p.publish(keys, values); err != nil {
		p.producer.discard()
		p.release(ctx, claim)
		return p.failed(ctx, AlertPublishFailed, err)
	}
	err = p.calls.finish(ctx, func(ctx context.Context) error {
		return p.cfg.Outbox.Mark(ctx, claim)
	})
	if err != nil {
		// Unknown. If the rows are marked they are not claimed again; if not, they
		// are, and are published twice.
		p.release(ctx, claim)
		return p.failed(ctx, AlertOutboxFailed, fmt.Errorf("marking rows: %w", err))
	}
	p.calls.succeeded()
	return 0
}

// publish appends the changes of a claim and waits until all are acknowledged. It
// goes in rounds, each with one change of each key: the next change of a key is
// sent when the one before is known to be there.
func (p *Poller) publish(keys []string, values [][]byte) error {
	if len(keys) != len(values) {
		return fmt.Errorf("the claim has %d keys and %d values", len(keys), len(values))
	}
	late := time.NewTimer(p.cfg.AckTimeout)
	defer late.Stop()
	todo := make([]int, len(keys))
	for i := range todo {
		todo[i] = i
	}
	for len(todo) > 0 {
		sent, rest := make(map[string]bool), []int(nil)
		acks := make(chan error, len(todo))
		for _, i := range todo {
			if sent[keys[i]] {
				rest = append(rest, i)
				continue
			}
			sent[keys[i]] = true
			p.producer.send(keys[i], values[i], func(err error) { acks <- err })
		}
		for range sent {
			select {
			case err := <-acks:
				if err != nil {
					return &publishError{err}
				}
			case <-late.C:
				return &publishError{fmt.Errorf("%w: %v", errNoAck, p.cfg.AckTimeout)}
			}
		}
		todo = rest
	}
	return nil
}

// release gives a claim back. It insists a little, since the rows of a claim that
// stays are published by nobody; in the end the server releases it with its session.
func (p *Poller) release(ctx context.Context, claim uint64) {
	for tries := 1; ; tries++ {
		err := p.calls.finish(ctx, func(ctx context.Context) error {
			return p.cfg.Outbox.Release(ctx, claim)
		})
		if err == nil || ctx.Err() != nil {
			return
		}
		if tries > p.calls.retries {
			p.alert(AlertOutboxFailed, "releasing a claim, left to the end of its session "+
				"after %d tries: %v", tries, err)
			return
		}
		sleep(ctx, backoffAfter(tries, p.calls.backoff, p.calls.coolDown))
	}
}

// failed takes note of a failed round and says how long to rest.
func (p *Poller) failed(ctx context.Context, what string, err error) time.Duration {
	wait, spent := p.calls.failed()
	if spent && ctx.Err() == nil {
		p.alert(what, "resting for %v, nothing is lost: %v", wait, err)
	}
	return wait
}

func (p *Poller) alert(what, format string, args ...any) {
	p.cfg.Alert(Alert{Hop: "poller", What: what, Detail: fmt.Sprintf(format, args...)})
}
