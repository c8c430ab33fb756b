package model

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// History is one run: every event in the order in which it happened. The zero
// value is an empty history, ready for [History.Append]. It is not safe for
// concurrent use.
type History struct {
	events []Event
	sum    hash.Hash
	buf    []byte
}

// Append adds e at the end, gives it the next Seq, and returns a pointer to the
// stored event, which stays valid until the next Append.
func (h *History) Append(e Event) *Event {
	e.Seq = int64(len(h.events)) + 1
	h.events = append(h.events, e)
	if h.sum == nil {
		h.sum = sha256.New()
	}
	stored := &h.events[len(h.events)-1]
	h.buf = append(AppendText(h.buf[:0], stored), '\n')
	h.sum.Write(h.buf)
	return stored
}

// Events returns the events in order. The slice belongs to the history: read it,
// do not change it.
func (h *History) Events() []Event { return h.events }

// Len returns the number of events.
func (h *History) Len() int { return len(h.events) }

// Digest returns 16 hex digits over the text form of all events so far. Two runs
// with the same digest are the same execution, event by event.
func (h *History) Digest() string {
	if h.sum == nil {
		return hex.EncodeToString(sha256.New().Sum(nil)[:8])
	}
	return hex.EncodeToString(h.sum.Sum(nil)[:8])
}
