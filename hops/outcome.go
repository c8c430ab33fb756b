package hops

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is what is known of a request: done, not done, or unknown.
type Outcome string

// The outcomes of a request. A lost reply is Unknown, never NotDone.
const (
	Done    Outcome = "done"
	NotDone Outcome = "not done"
	Unknown Outcome = "unknown"
)

// SendError says that an event has no acknowledgement. With Outcome NotDone the
// log does not hold it and never will; with Unknown it may, now or a little
// later. Whoever sends the event again must keep its EventID.
type SendError struct {
	EventID string
	Outcome Outcome
	Err     error
}

// Error names the event and its outcome, and says what failed.
func (e *SendError) Error() string {
	return fmt.Sprintf("event %s is %s: %v", e.EventID, e.Outcome, e.Err)
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// UnresolvedError lists, in the order of their sends, the events whose outcome
// was still unknown when the player closed. They may be in the log.
type UnresolvedError struct{ EventIDs []string }

// Error counts the events and lists their ids.
func (e *UnresolvedError) Error() string {
	return fmt.Sprintf("%d events unresolved at close: %s",
		len(e.EventIDs), strings.Join(e.EventIDs, ", "))
}

// backoffAfter returns the wait after the nth failure in a row, n from 1: base,
// doubled each time, never above most.
func backoffAfter(n int, base, most time.Duration) time.Duration {
	wait := base
	for ; n > 1 && wait < most; n-- {
		wait *= 2
	}
	return min(wait, most)
}
