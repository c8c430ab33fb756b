package tap

import (
	"sync"
	"time"
)

// house: real clock because deadlines are the client's, and in a bubble its clock is virtual.

// deadline is a channel that closes at a moment that may be moved.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{}
}

func newDeadline() *deadline { return &deadline{over: make(chan struct{})} }

// set moves the deadline to t; the zero time removes it.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.over // it fired, or is about to: let it, and start afresh
	}
	d.timer = nil
	if isClosed(d.over) {
		d.over = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	over := d.over
	if left := time.Until(t); left > 0 {
		d.timer = time.AfterFunc(left, func() { close(over) })
		return
	}
	close(over)
}

// wait returns the channel that closes at the deadline. It stays the same when a
// deadline is moved that has not fired yet, so that who waits is moved along.
func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

func (d *deadline) expired() bool { return isClosed(d.wait()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
