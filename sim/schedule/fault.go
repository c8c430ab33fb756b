package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// kinds lists the boundary events in the order in which a message meets them.
var kinds = []model.Kind{model.Request, model.Reply, model.Call, model.Return}

// Point is one boundary event: a place where something can go wrong. It is
// comparable, and there is no other list of places.
type Point struct {
	Proc string     // "landing/0"
	Life int        // life of the process, from 1
	Kind model.Kind // request, reply, call or return
	Op   string     // Kafka API ("Produce") or call ("put")
	Nth  int        // n-th event of this kind and op in this life, from 1
}

// PointOf returns the point at which e stands. It is meaningful for boundary
// events alone (see [model.Kind.Boundary]).
func PointOf(e *model.Event) Point {
	return Point{Proc: e.Proc, Life: e.Life, Kind: e.Kind, Op: e.Op, Nth: e.Nth}
}

// String returns the point as a schedule file would name it:
// "landing/0 life 1 request OffsetCommit 2".
func (p Point) String() string { return p.owner() + " " + p.event() }

func (p Point) owner() string { return fmt.Sprintf("%s life %d", p.Proc, p.Life) }
func (p Point) event() string { return fmt.Sprintf("%s %s %d", p.Kind, p.Op, p.Nth) }

// simpler returns the points to try instead of p, simplest first. Neither Life
// nor Nth is ever greater than in p, and one of them is smaller: that is what
// makes shrinking end.
func (p Point) simpler() []Point {
	var out []Point
	add := func(life, nth int) {
		q := p
		q.Life, q.Nth = life, nth
		if life >= 1 && nth >= 1 && q != p && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	add(1, 1)
	add(1, p.Nth)
	add(p.Life, 1)
	add(p.Life-1, p.Nth)
	// Down by a half, a quarter, ... and 1: a bisection, since a step of 1 alone
	// would cost a run for each occurrence in between.
	for step := p.Nth / 2; step >= 1; step /= 2 {
		add(p.Life, p.Nth-step)
	}
	return out
}

// compareKinds orders kinds as a message meets them.
func compareKinds(a, b model.Kind) int {
	return cmp.Compare(slices.Index(kinds, a), slices.Index(kinds, b))
}

// Do says what the boundary does at a point.
type Do int

// What the boundary can do.
const (
	Pass     Do = iota // nothing: the event takes effect
	Kill               // the process dies, before the event or after it
	Stop               // the process is asked to end, as by SIGTERM; the event passes
	Pause              // the whole process stands still, then goes on with the event
	Delay              // this one event waits, the rest of the process goes on
	Lose               // a request or call never arrives; a reply or return is lost
	Answer             // the process is told of an error
	Outage             // the brokers go away as the event comes, and come back
	Database           // the database server crashes as the event comes, and is back at once
)

// String returns the lower-case name of d.
func (d Do) String() string {
	names := [...]string{"pass", "kill", "stop", "pause", "delay", "lose", "answer", "outage",
		"database"}
	if d < 0 || int(d) >= len(names) {
		return fmt.Sprintf("Do(%d)", int(d))
	}
	return names[d]
}

// Action is what the boundary does at a point; the tap interprets it.
//
// Kill before a request or call: it never leaves. After a request or call: it is
// applied and the process never sees the answer. Before a reply or return: the
// same, later. After a reply or return: the process sees it, acts on it up to its
// next boundary event, and dies before that one.
//
// Lose at a request or call: it never arrives. At a reply or return: it was
// applied and the answer is lost. In all cases the process sees a broken
// connection, or an unknown outcome.
//
// Answer at a request or call: not applied. At a reply or return: applied, and
// the process is told of an error all the same.
type Action struct {
	Do    Do
	After bool          // Kill: after the event took effect, else before it
	For   time.Duration // Pause, Delay, Outage: virtual ns in simulation, real ns in live mode
	Code  string        // Answer: Kafka error name ("NOT_ENOUGH_REPLICAS") or store error word
	// Database: [Crashes] or [LosesSlot]
}

// Fault is one thing that goes wrong. Faults are immutable comparable values: two
// are the same fault if and only if they are ==. Make one with [ParseFault], with
// [Draw] or from [Enumerate].
type Fault interface {
	// String returns the line of a schedule file that parses back to the fault.
	fmt.Stringer
	// At returns the place of the fault.
	At() Point
	// Action returns what happens there.
	Action() Action
	// Simpler returns faults of the same verb to try instead, simplest first: an
	// earlier life, an earlier occurrence, before instead of after, a shorter
	// duration of a small list, a milder code. Each is strictly simpler, so that
	// no chain of them goes on for ever.
	Simpler() []Fault
}
