package specs

import (
	"errors"
	"fmt"

	"github.com/hopcheck/hopcheck/model/check"
)

// MaxManagers is the most resource managers that a TwoPhaseState has room for.
const MaxManagers = 10

// Manager is what a resource manager has decided.
type Manager uint8

// The decisions of a resource manager.
const (
	Working Manager = iota
	Prepared
	Committed
	Aborted
)

// TwoPhaseState is the state of a two-phase commit: the resource managers, the
// transaction manager, and every message that was ever sent, for the network
// loses, repeats and reorders.
type TwoPhaseState struct {
	Managers [MaxManagers]Manager
	Decision Manager           // of the transaction manager: Working until it decides
	Heard    [MaxManagers]bool // Prepared has reached the transaction manager
	Sent     [MaxManagers]bool // Prepared is under way
	Commit   bool              // Commit is under way
	Abort    bool              // Abort is under way
}

// TwoPhase returns Lamport's two-phase commit with so many resource managers, 1
// to MaxManagers (it panics otherwise). With 7 it has 296,448 states, with 8
// 1,745,408, with 9 10,340,352, with 10 61,515,776. Source: TwoPhase.tla of
// "Consensus on Transaction Commit" (Gray and Lamport).
func TwoPhase(managers int) check.Spec[TwoPhaseState] {
	return twoPhase(managers, managers)
}

// TwoPhaseEarly returns the same with a mistake: the transaction manager commits
// when all but one have prepared.
func TwoPhaseEarly(managers int) check.Spec[TwoPhaseState] {
	spec := twoPhase(managers, managers-1)
	spec.Name += "-early"
	return spec
}

func twoPhase(managers, enough int) check.Spec[TwoPhaseState] {
	if managers < 1 || managers > MaxManagers {
		panic(fmt.Sprintf("two-phase commit with %d managers: choose 1 to %d",
			managers, MaxManagers))
	}
	return check.Spec[TwoPhaseState]{
		Name: fmt.Sprintf("twophase-%d", managers),
		Init: []TwoPhaseState{{}},
		Next: func(c *check.Out[TwoPhaseState], s *TwoPhaseState) {
			decide(c, s, enough)
			for m := range managers {
				manage(c, s, m)
			}
		},
		Always:    func(s *TwoPhaseState) error { return agree(s.Managers[:managers]) },
		Quiescent: func(s *TwoPhaseState) error { return decided(s.Managers[:managers]) },
	}
}

// decide is the transaction manager.
func decide(c *check.Out[TwoPhaseState], s *TwoPhaseState, enough int) {
	if s.Decision != Working {
		return
	}
	heard := 0
	for m, sent := range s.Sent {
		if sent {
			n := c.Do("hear-prepared", m)
			n.Heard[m] = true
		}
		if s.Heard[m] {
			heard++
		}
	}
	if heard >= enough {
		n := c.Do("commit", check.Nobody)
		n.Decision, n.Commit = Committed, true
	}
	n := c.Do("abort", check.Nobody)
	n.Decision, n.Abort = Aborted, true
}

// manage is one resource manager.
func manage(c *check.Out[TwoPhaseState], s *TwoPhaseState, m int) {
	if s.Managers[m] == Working {
		n := c.Do("prepare", m)
		n.Managers[m], n.Sent[m] = Prepared, true

		n = c.Do("give-up", m)
		n.Managers[m] = Aborted
	}
	if s.Commit {
		n := c.Do("obey-commit", m)
		n.Managers[m] = Committed
	}
	if s.Abort {
		n := c.Do("obey-abort", m)
		n.Managers[m] = Aborted
	}
}

// agree says that no two managers decide differently.
func agree(managers []Manager) error {
	committed, aborted := false, false
	for _, m := range managers {
		committed = committed || m == Committed
		aborted = aborted || m == Aborted
	}
	if committed && aborted {
		return errors.New("one manager has committed and another has aborted")
	}
	return nil
}

// decided says that nobody waits for ever.
func decided(managers []Manager) error {
	for i, m := range managers {
		if m != Committed && m != Aborted {
			return fmt.Errorf("manager %d never decides", i)
		}
	}
	return nil
}
