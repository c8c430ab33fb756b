package check

import "time"

// Engine is how states are remembered.
type Engine uint8

// The engines. Both count the same and find the same counterexample.
const (
	// Fingerprint keeps 64 bits of each state, about 20 bytes with all that is
	// around them. Two states with the same fingerprint are taken for one; how
	// probable that was is Result.Collision. A counterexample is found by
	// Exact, which then searches as deep as need be.
	Fingerprint Engine = iota
	// Exact keeps each state and where it came from.
	Exact
)

// String returns "fingerprint" or "exact".
func (e Engine) String() string {
	if e == Exact {
		return "exact"
	}
	return "fingerprint"
}

// Options is how to search. The zero value searches the whole space with
// fingerprints, one worker and at most DefaultMemory.
type Options struct {
	Engine  Engine
	Workers int    // goroutines that search; 0 is one
	Memory  int64  // bytes that the search may hold; 0 is DefaultMemory
	States  int64  // stop after about so many states; 0 is no bound
	Depth   int    // do not look further than so many steps; 0 is no bound
	Seed    uint64 // of the hash; another seed has other collisions

	// Actions asks for Result.Actions, which makes a search slower.
	Actions bool

	// Progress is called now and then, about every Every states (0 is a
	// million) and from one goroutine at a time. May be nil.
	Progress func(Progress)
	Every    int64

	// Clock says how much time has gone by; without it no rates are known. It
	// may be called from several goroutines.
	Clock func() time.Duration

	// Stop is asked now and then, from several goroutines, whether to give up:
	// the verdict is then Undecided. May be nil.
	Stop func() bool

	forget int // low bits of fingerprints that tests do without
}

// DefaultMemory is the memory of a search that names none, in bytes.
const DefaultMemory = 4 << 30

// Progress is how far a search is.
type Progress struct {
	States      int64 // distinct, so far
	Transitions int64
	Queue       int64 // states found but not yet expanded
	Depth       int   // steps from the first state to those being expanded
	Bytes       int64 // held by the search
	Elapsed     time.Duration
	Rate        float64 // states per second since the start; 0 without Clock
	Telling     bool    // the states are found again, for the counterexample
}
