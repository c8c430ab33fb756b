package hops

import (
	"context"
	"time"
)

// patience is how a program bears failures: Retries in a row with a growing wait,
// then an alert and a longer rest, and so on until something succeeds.
type patience struct {
	retries           int
	backoff, coolDown time.Duration
	callTimeout       time.Duration
	failures          int // in a row, since the last rest of coolDown
}

// patient returns what the four options of a config mean, and whether they can.
func patient(retries int, backoff, coolDown, callTimeout time.Duration) (patience, bool) {
	p := patience{
		retries:     orDefault(retries, 4),
		backoff:     orDefault(backoff, 100*time.Millisecond),
		coolDown:    orDefault(coolDown, 30*time.Second),
		callTimeout: orDefault(callTimeout, 10*time.Second),
	}
	return p, min(p.backoff, p.coolDown, p.callTimeout) > 0
}

// failed takes note of a failure and says how long to wait. Spent means that the
// retries are used up: it is time for an alert, and for a rest.
func (p *patience) failed() (wait time.Duration, spent bool) {
	p.failures++
	if p.failures <= p.retries {
		return backoffAfter(p.failures, p.backoff, p.coolDown), false
	}
	p.failures = 0
	return p.coolDown, true
}

// succeeded takes note of a success.
func (p *patience) succeeded() { p.failures = 0 }

// once makes one call in bounded time. The end of ctx ends it.
func (p *patience) once(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	return call(ctx)
}

// finish makes one call that the end of ctx does not interrupt.
func (p *patience) finish(ctx context.Context, call func(context.Context) error) error {
	return p.once(context.WithoutCancel(ctx), call)
}
