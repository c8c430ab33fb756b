package specs

import (
	"errors"
	"fmt"

	"github.com/hopcheck/hopcheck/model/check"
)

// MaxManagers is the most resource managers that a TwoPhaseState has room for.
const MaxManagers = 10

// Phase is how far a party of a two-phase commit is.
type Phase uint8

const (
	phaseWorking Phase = iota
	phasePrepared
	phaseCommitted
	phaseAborted
)

// String returns the phase in lower case.
func (p Phase) String() string {
	return [...]string{"working", "prepared", "committed", "aborted"}[p]
}

// TwoPhaseState is the state of a two-phase commit: the resource managers, the
// transaction manager, and every message that was ever sent, for the network
// loses, repeats and reorders.
type TwoPhaseState struct {
	Managers [MaxManagers]Phase
	Decision Phase             // of the transaction manager: working until it decides
	Prepared [MaxManagers]bool // this message of a manager was sent
	Heard    [MaxManagers]bool // and has reached the transaction manager
	Commit   bool              // this message was sent, to all
	Abort    bool              // this message was sent, to all
}

// TwoPhase returns Lamport's two-phase commit with so many resource managers, 1
// to MaxManagers (it panics otherwise). With 7 it has 296,448 states, with 8
// 1,745,408, with 9 10,340,352, with 10 61,515,776. Source: TwoPhase.tla of
// "Consensus on Transaction Commit" (Gray and Lamport).
func TwoPhase(managers int) check.Spec[TwoPhaseState] {
	return twoPhase{managers: managers, enough: managers}.spec("twophase")
}

// TwoPhaseEarly returns the same with a mistake: the transaction manager commits
// when all but one have prepared.
func TwoPhaseEarly(managers int) check.Spec[TwoPhaseState] {
	return twoPhase{managers: managers, enough: managers - 1}.spec("twophase-early")
}

type twoPhase struct {
	managers int
	enough   int // so many that have prepared are enough to commit
}

func (p twoPhase) spec(name string) check.Spec[TwoPhaseState] {
	if p.managers < 1 || p.managers > MaxManagers {
		panic(fmt.Sprintf("two-phase commit with %d managers: choose 1 to %d",
			p.managers, MaxManagers))
	}
	return check.Spec[TwoPhaseState]{
		Name:      fmt.Sprintf("%s-%d", name, p.managers),
		Init:      []TwoPhaseState{{}},
		Next:      p.next,
		Always:    p.agree,
		Quiescent: p.decided,
	}
}

func (p twoPhase) next(c *check.Out[TwoPhaseState], s *TwoPhaseState) {
	if s.Decision == phaseWorking {
		p.decide(c, s)
	}
	for m := range p.managers {
		p.obey(c, s, m)
	}
}

// decide is what the transaction manager can do.
func (p twoPhase) decide(c *check.Out[TwoPhaseState], s *TwoPhaseState) {
	heard := 0
	for m := range p.managers {
		if s.Prepared[m] {
			n := c.Do("hear-prepared", m)
			n.Heard[m] = true
		}
		if s.Heard[m] {
			heard++
		}
	}
	if heard >= p.enough {
		n := c.Do("decide-commit", check.Nobody)
		n.Decision, n.Commit = phaseCommitted, true
	}
	n := c.Do("decide-abort", check.Nobody)
	n.Decision, n.Abort = phaseAborted, true
}

// obey is what resource manager m can do.
func (p twoPhase) obey(c *check.Out[TwoPhaseState], s *TwoPhaseState, m int) {
	if s.Managers[m] == phaseWorking {
		n := c.Do("prepare", m)
		n.Managers[m], n.Prepared[m] = phasePrepared, true

		n = c.Do("give-up", m)
		n.Managers[m] = phaseAborted
	}
	if s.Commit {
		n := c.Do("obey-commit", m)
		n.Managers[m] = phaseCommitted
	}
	if s.Abort {
		n := c.Do("obey-abort", m)
		n.Managers[m] = phaseAborted
	}
}

// agree: no two resource managers decide differently.
func (p twoPhase) agree(s *TwoPhaseState) error {
	committed, aborted := false, false
	for _, phase := range s.Managers[:p.managers] {
		committed = committed || phase == phaseCommitted
		aborted = aborted || phase == phaseAborted
	}
	if committed && aborted {
		return errors.New("one manager has committed and another has aborted")
	}
	return nil
}

// decided: no resource manager waits for ever.
func (p twoPhase) decided(s *TwoPhaseState) error {
	for m, phase := range s.Managers[:p.managers] {
		if phase != phaseCommitted && phase != phaseAborted {
			return fmt.Errorf("manager %d never decides", m)
		}
	}
	return nil
}
