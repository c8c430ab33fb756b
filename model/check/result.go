package check

import "time"

// Verdict is what a search can say.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // a bound was met before the end: Result.Why
	Held                     // every reachable state was judged, and kept its promises
	Broken                   // Result.Broken
)

// String returns "held", "broken" or "undecided".
func (v Verdict) String() string {
	switch v {
	case Held:
		return "held"
	case Broken:
		return "broken"
	}
	return "undecided"
}

// Promise is which function of a Spec judged.
type Promise string

// The promises of a specification.
const (
	Always    Promise = "always"
	Quiescent Promise = "quiescent"
)

// Violation is a promise that a state breaks.
type Violation[S comparable] struct {
	Promise Promise
	Err     error // what Always or Quiescent said
	State   S
	Depth   int // steps from an initial state, the least there are
}

// ActionCount is the transitions of one action.
type ActionCount struct {
	Action string
	Fault  bool
	Steps  int64
}

// Result is what a search found. States, Transitions, Quiescent and Depth are
// the same for every engine and number of workers (but for states that were
// taken for others, see Collision), unless Stop, States or Memory ended it.
type Result[S comparable] struct {
	Spec    string // its name
	Verdict Verdict
	Why     string // why it is undecided, or why a counterexample is missing

	States      int64 // distinct states found
	Transitions int64 // steps out of the states that were expanded
	Quiescent   int64 // states in which only faults are possible
	Queue       int64 // states found but not expanded: what was not covered
	Depth       int   // steps to the farthest state found

	// Actions is how often each action was taken, by name, if Options.Actions
	// asks. One that is not there was never possible: what it would break was
	// not looked for.
	Actions []ActionCount

	// Violation is the broken promise, nil unless the verdict is Broken. Of
	// several it is one with the fewest steps. The level at which it was found
	// is searched to its end.
	Violation *Violation[S]
	// Trace is the shortest counterexample, from an initial state to the one
	// in Violation. Each state follows from the one before by its action. It
	// is empty if there was no memory to find it: Why says so.
	Trace []Step[S]

	Engine    Engine
	Workers   int
	Bytes     int64   // most that the search held
	Collision float64 // probability that any state was taken for another
	Elapsed   time.Duration
}
