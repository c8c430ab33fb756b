package mutants

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// slotTaken is how long a publisher of the log waits for a slot that another one has,
// virtual.
const slotTaken = time.Second

// streamJob is a publisher of the log as people write their first one: hand changes to
// the client, now and then wait for all of them and confirm, and at the first error
// exit, so that the supervisor starts it again where the slot stands. The functions are
// where it can go wrong.
type streamJob struct {
	// window is how many changes are in flight at most.
	window int
	// full does what is due when changes enough are in flight.
	full func(l *streamLife, ctx context.Context) error
	// keepalive takes a position of the server.
	keepalive func(l *streamLife, ctx context.Context, lsn string) error
}

// newStreamJob returns a job without a mistake.
func newStreamJob() *streamJob {
	return &streamJob{
		window: 8, full: (*streamLife).settle, keepalive: (*streamLife).settleAt,
	}
}

// streamLife is one life of a job.
type streamLife struct {
	sim.Env
	*kgo.Client
	last   string          // position of the last change that was sent
	flying map[string]bool // keys of the changes that nobody has waited for

	open    sync.WaitGroup
	mu      sync.Mutex
	failure error // of an append
}

// run is one life: it publishes until ctx ends.
func (j *streamJob) run(ctx context.Context, env sim.Env) error {
	client, err := kgo.NewClient(env.Kafka...)
	if err != nil {
		return err
	}
	defer client.Close()
	l := &streamLife{Env: env, Client: client, flying: make(map[string]bool)}
	for {
		err := j.stream(ctx, l)
		var active interface{ SlotActive() bool }
		switch {
		case ctx.Err() != nil:
			return nil
		case !errors.As(err, &active) || !active.SlotActive():
			return err
		}
		pause(ctx, slotTaken)
	}
}

// stream publishes what the slot has, until something fails.
func (j *streamJob) stream(ctx context.Context, l *streamLife) error {
	if err := l.Database.Stream(ctx, ""); err != nil {
		return fmt.Errorf("streaming: %w", err)
	}
	for {
		lsn, key, value, err := l.Database.Next(ctx)
		if err != nil {
			return fmt.Errorf("waiting for a change: %w", err)
		}
		if key == "" {
			if err := j.keepalive(l, ctx, lsn); err != nil {
				return err
			}
			continue
		}
		if l.flying[key] { // one at a time, or a failure would change their order
			if err := l.flush(); err != nil {
				return err
			}
		}
		l.send(lsn, key, value)
		if len(l.flying) < j.window {
			continue
		}
		if err := j.full(l, ctx); err != nil {
			return err
		}
	}
}

func (l *streamLife) send(lsn, key string, value []byte) {
	l.last, l.flying[key] = lsn, true
	l.open.Add(1)
	r := &kgo.Record{Topic: worlds.EnrollmentTopic, Key: []byte(key), Value: value}
	l.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
		defer l.open.Done()
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.failure = fmt.Errorf("publishing: %w", err)
		}
	})
}

// flush waits for what was sent.
func (l *streamLife) flush() error {
	l.open.Wait()
	clear(l.flying)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// settle waits for what was sent and confirms it.
func (l *streamLife) settle(ctx context.Context) error { return l.settleAt(ctx, l.last) }

// settleAt confirms a position up to which there is nothing that was not sent, once
// that is in the topic.
func (l *streamLife) settleAt(ctx context.Context, lsn string) error {
	if err := l.flush(); err != nil {
		return err
	}
	return l.confirm(ctx, lsn)
}

func (l *streamLife) confirm(ctx context.Context, lsn string) error {
	if err := l.Database.Confirm(ctx, lsn); err != nil {
		return fmt.Errorf("confirming %s: %w", lsn, err)
	}
	return nil
}
