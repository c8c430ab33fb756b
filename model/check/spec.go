package check

import (
	"slices"
	"strconv"
)

// Nobody is the number of no process, for actions that have none.
const Nobody = -1

// Spec is a specification over the states S. Its functions are called from
// several goroutines at once if Options.Workers says so: they depend on their
// arguments alone, always do the same, and keep nothing.
type Spec[S comparable] struct {
	Name string // as it is printed; may be empty

	// Init lists the states to begin with; at least one.
	Init []S

	// Next asks c for a copy of s for each action that is possible in s, and
	// edits the copy. It must not change s.
	Next func(c *Out[S], s *S)

	// Always judges every state; an error says what is broken. May be nil.
	Always func(s *S) error

	// Quiescent judges each state that no action of Out.Do changes: what is
	// left to happen are faults, or nothing. May be nil.
	Quiescent func(s *S) error

	// Canon puts one state in the place of all that behave alike: it sorts
	// instances that can be exchanged, or reduces an epoch to current or stale.
	// It is applied to every state before it is looked up. Applying it twice
	// is the same as once; a state and its canonical form must have the same
	// steps (up to Canon) and keep and break the same promises. May be nil.
	Canon func(s *S)
}

// Step is one step of a behaviour: what was done, by whom, and the state after
// it. The first step of a counterexample has no action; its state is initial.
type Step[S comparable] struct {
	Action string
	Who    int  // number of the process, from 0; Nobody if there is none
	Fault  bool // by Out.Fault
	State  S    // as Next made it, before Canon
}

// String returns the action and who did it: "poll 1", or "start" for a first
// step.
func (s Step[S]) String() string {
	switch {
	case s.Action == "":
		return "start"
	case s.Who == Nobody:
		return s.Action
	}
	return s.Action + " " + strconv.Itoa(s.Who)
}

// Out takes the steps that are possible in one state. Next gets it from the
// engine; it must not be kept.
type Out[S comparable] struct {
	from   *S
	next   []S     // never grows in place: pointers into it were handed out
	full   [][]S   // what was in next when it was full, during this call of Next
	first  int     // of the steps from this state
	faults []int32 // which of the steps are faults, counted from first
	names  *[]name // of all steps, if somebody wants to know
}

type name struct {
	action string
	who    int
	fault  bool
}

// Do says that an action is possible and returns a copy of the current state,
// to be edited in place into the state after it. The pointer is never nil and
// is good until Next returns, also after more calls. The name and the number
// cost nothing during a search: they are asked for again when a counterexample
// is told. An action that leaves the copy as it is counts as a transition, but
// not as going on: see Spec.Quiescent.
func (c *Out[S]) Do(action string, who int) *S {
	if c.names != nil {
		*c.names = append(*c.names, name{action, who, false})
	}
	return c.add()
}

// Fault is [Out.Do] for what the world does to the protocol: a crash, a lost
// reply, a pause, a timeout. A state in which only faults are possible is
// quiescent.
func (c *Out[S]) Fault(action string, who int) *S {
	if c.names != nil {
		*c.names = append(*c.names, name{action, who, true})
	}
	n := len(c.next) - c.first
	for _, steps := range c.full {
		n += len(steps)
	}
	c.faults = append(c.faults, int32(n))
	return c.add()
}

func (c *Out[S]) add() *S {
	n := len(c.next)
	if n == cap(c.next) {
		c.full = append(c.full, c.next)
		c.next = make([]S, 0, max(2*n, 8))
		n = 0
	}
	c.next = c.next[:n+1]
	c.next[n] = *c.from
	return &c.next[n]
}

// ask lets next say what is possible in s, and returns the steps. They are also
// the last ones of c.next.
func (c *Out[S]) ask(next func(*Out[S], *S), s *S) []S {
	c.from, c.first, c.faults = s, len(c.next), c.faults[:0]
	next(c, s)
	if len(c.full) > 0 {
		all := slices.Concat(slices.Concat(c.full...), c.next)
		c.full, c.next = nil, all
	}
	return c.next[c.first:]
}

// Successors returns the steps that are possible in s, in the order in which
// Next offers them, without Canon. It may be called from several goroutines.
// Comparing a recorded run with a specification is following it.
func Successors[S comparable](spec Spec[S], s S) []Step[S] {
	var names []name
	c := Out[S]{names: &names}
	next := c.ask(spec.Next, &s)
	steps := make([]Step[S], len(next))
	for i, n := range names {
		steps[i] = Step[S]{Action: n.action, Who: n.who, Fault: n.fault, State: next[i]}
	}
	return steps
}

func (spec *Spec[S]) canon(s S) S {
	if spec.Canon != nil {
		spec.Canon(&s)
	}
	return s
}
