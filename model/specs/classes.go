package specs

import "math/bits"

// A class is what a state has in common with many others, for coverage: an action that
// was only ever taken in one class may never have met what the promises are about. The
// classes of a specification are few, and the same for an exploration and for histories.

// classOfLanding tells how many members believe that they own the partition, and whether
// something is stored or dead-lettered of which the group does not know.
func classOfLanding(s *LandingState) string {
	owners := 0
	for i := range s.Members {
		if s.Members[i].Has {
			owners++
		}
	}
	ahead := ", all committed"
	if (s.Stored|s.Dead)&^below(int(s.Commit)) != 0 {
		ahead = ", work not committed"
	}
	return [...]string{"no owner", "one owner", "two owners"}[owners] + ahead
}

// classOfPlayer tells what is under way: what is in the log without an ack, what was
// sent and is not there, or nothing.
func classOfPlayer(s *PlayerState) string {
	unacked := s.Appended &^ (s.Acked | s.Failed)
	switch {
	case unacked != 0 && unacked&s.Flying == 0 && unacked&s.Known == 0:
		return "in the log, its answer lost"
	case unacked != 0:
		return "in the log, not acked"
	case s.Written&^(s.Appended|s.Failed) != 0:
		return "sent, not in the log"
	}
	return "nothing under way"
}

// classOfTile tells how many runs there are, and how far the last batch is.
func classOfTile(s *TileState) string {
	runs := 0
	for i := range s.Runs {
		if s.Runs[i].Step != tileDown {
			runs++
		}
	}
	last := ", batch committed"
	switch planned := s.planned(); {
	case planned <= int(s.Committed):
	case bits.Len64(s.Entries|s.Compacts) >= planned:
		last = ", batch in the sink log"
	default:
		last = ", batch planned"
	}
	return [...]string{"no run", "one run", "two runs"}[runs] + last
}

// classOfValidated tells how many members believe that they own the partition, and what
// transactions there are.
func classOfValidated(s *ValidatedState) string {
	owners, open, ends := 0, 0, 0
	for i := range s.Members {
		if s.Members[i].Has {
			owners++
		}
		switch s.Ids[i].Phase {
		case ongoing:
			open++
		case committing, aborting:
			ends++
		}
	}
	transaction := ", no transaction"
	switch {
	case open+ends > 1:
		transaction = ", two transactions"
	case open > 0:
		transaction = ", a transaction open"
	case ends > 0:
		transaction = ", a transaction ends"
	}
	return [...]string{"no owner", "one owner", "two owners"}[owners] + transaction
}

// classOfEnrollment tells how many publishers have something in hand, and whether
// something is in the topic that is neither marked nor confirmed.
func classOfEnrollment(s *EnrollmentState) string {
	busy := 0
	for i := range s.Publishers {
		if s.Publishers[i].Claimed != 0 {
			busy++
		}
	}
	way, done := "outbox", s.Marked
	if s.Log {
		way, done = "log", below(int(s.Confirmed))
	}
	ahead := ", all of it known"
	if s.Appended&^done != 0 {
		ahead = ", some not known"
	}
	return way + [...]string{", nothing in hand", ", one publishes", ", two publish"}[busy] + ahead
}
