package specs

import (
	"errors"
	"fmt"
	"math/bits"
)

// kept: what is marked or confirmed is in the topic; the first copies of a key's changes
// are there in the order of its commits; the fold has the last change of each key that
// is there; a copy changes no count twice.
func (e enrollment) kept(s *EnrollmentState) error {
	if lost := s.Marked &^ s.Appended; lost != 0 {
		return fmt.Errorf("change %d is marked as published, and is not in the topic",
			bits.TrailingZeros64(lost))
	}
	if lost := below(int(s.Confirmed)) &^ s.Appended; lost != 0 {
		return fmt.Errorf("change %d is confirmed, and is not in the topic",
			bits.TrailingZeros64(lost))
	}
	for i := range e.changes {
		if s.Appended&bit(i) == 0 {
			continue
		}
		if before := e.ofKey(i) & below(i) &^ s.Appended; before != 0 {
			return fmt.Errorf("change %d is in the topic before change %d of its key", i,
				bits.TrailingZeros64(before))
		}
		last := e.ofKey(i) & s.Appended
		if has := int(s.Fold[e.keys[i]]); has != bits.Len64(last) {
			return fmt.Errorf("the fold has change %d, and the topic change %d of that key",
				has-1, bits.Len64(last)-1)
		}
	}
	if s.Twice {
		return errors.New("a copy of a change has changed a count once more")
	}
	return nil
}

// drained: when all is quiet, every committed change is in the topic and known to be.
func (e enrollment) drained(s *EnrollmentState) error {
	all := below(e.changes)
	if lost := all &^ s.Appended; lost != 0 {
		return fmt.Errorf("change %d is never published", bits.TrailingZeros64(lost))
	}
	if s.Log && int(s.Confirmed) < e.changes {
		return fmt.Errorf("the slot stays at change %d of %d", s.Confirmed, e.changes)
	}
	if open := all &^ s.Marked; !s.Log && open != 0 {
		return fmt.Errorf("change %d is never marked", bits.TrailingZeros64(open))
	}
	return nil
}
