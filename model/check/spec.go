package check

import "strconv"

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
	from  *S
	steps []*Step[S]
}

// Do says that an action is possible and returns a copy of the current state,
// to be edited in place into the state after it. The pointer is never nil and
// is good until Next returns, also after more calls. The name and the number
// cost nothing during a search: they are asked for again when a counterexample
// is told. An action that leaves the copy as it is counts as a transition, but
// not as going on: see Spec.Quiescent.
func (c *Out[S]) Do(action string, who int) *S { return c.add(action, who, false) }

// Fault is [Out.Do] for what the world does to the protocol: a crash, a lost
// reply, a pause, a timeout. A state in which only faults are possible is
// quiescent.
func (c *Out[S]) Fault(action string, who int) *S { return c.add(action, who, true) }

func (c *Out[S]) add(action string, who int, fault bool) *S {
	step := &Step[S]{Action: action, Who: who, Fault: fault, State: *c.from}
	c.steps = append(c.steps, step)
	return &step.State
}

// Successors returns the steps that are possible in s, in the order in which
// Next offers them, without Canon. It may be called from several goroutines.
// Comparing a recorded run with a specification is following it.
func Successors[S comparable](spec Spec[S], s S) []Step[S] {
	c := Out[S]{from: &s}
	spec.Next(&c, &s)
	steps := make([]Step[S], len(c.steps))
	for i, step := range c.steps {
		steps[i] = *step
	}
	return steps
}

func (spec *Spec[S]) canon(s S) S {
	if spec.Canon != nil {
		spec.Canon(&s)
	}
	return s
}
