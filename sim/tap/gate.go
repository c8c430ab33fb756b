package tap

import "github.com/hopcheck/hopcheck/model"

// Do says what becomes of a crossing.
type Do int

// What a gate can do with a crossing.
const (
	Pass   Do = iota // it takes effect
	Lose             // it is lost: the connection breaks, or the call comes back as unknown
	Answer           // it is answered with Verdict.Code; a request or call has no effect
	Drop             // its process is dead: it never happened, and nobody waits for it
)

// Verdict is a gate's decision about one crossing.
type Verdict struct {
	Do   Do
	Code string // for Answer: a Kafka error name, or a word for a store error
}

// Crossing is one thing that wants to cross the boundary of a process: a Kafka
// frame in either direction, a call to a store, or what the call came back with.
type Crossing struct {
	Life *Life
	// Event says what crosses. Its Seq, At and Nth are for the gate to fill, and
	// so are the renamed member and producer (see [Names.Rename]).
	Event model.Event
	// Stream orders: crossings of one stream pass in the order of their arrival.
	// A stream is one direction of one connection, or one call.
	Stream uint64
	// Corr is the correlation id of a frame, 0 for calls. With the API it breaks
	// ties between streams in the same way in every run.
	Corr int32
	// Peer is the address of the broker at the other end, "" for calls. It breaks
	// ties too.
	Peer string

	// Answers is the request or call that this is the answer to, nil for none.
	Answers *Crossing
	// Seq is where the crossing stands in the history; the gate sets it.
	Seq int64

	settle func(Verdict)
	gone   func() bool
}

// Gone reports whether nobody waits for the crossing any more, since the process
// closed the connection. A request that is gone never reached the broker; a reply
// that is gone was lost.
func (c *Crossing) Gone() bool { return c.gone != nil && c.gone() }

// Settle carries out the verdict. The gate calls it exactly once, without
// holding a lock that a process could want.
func (c *Crossing) Settle(v Verdict) { c.settle(v) }

// Gate decides when each crossing passes and what becomes of it.
type Gate interface {
	// Submit hands over a crossing. It must not wait for the verdict: the
	// process's own goroutine may be the caller. Safe for concurrent use.
	Submit(c *Crossing)
	// Note records something that is no place to die: what a client library or
	// a caller saw. Safe for concurrent use.
	Note(l *Life, e model.Event)
}
