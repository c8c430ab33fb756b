package specs

import (
	"errors"
	"fmt"
	"math/bits"
)

// kept: through the sink log every offset of a committed batch is counted, and none
// twice; what the sink log has named once stays there, and its parts are stored; of two
// runs at most one wins each batch.
func (t tile) kept(s *TileState) error {
	committed := below(s.end(int(s.Committed)))
	if lost := committed &^ s.Counted; lost != 0 {
		return fmt.Errorf("offset %d is committed, and no part that the sink log names counts it",
			bits.TrailingZeros64(lost))
	}
	if s.Twice {
		return errors.New("the parts that the sink log names count an offset twice")
	}
	if gone := below(int(s.Logged)) &^ s.visible(); gone != 0 {
		return fmt.Errorf("batch %d was in the sink log, and no reader finds it there",
			bits.TrailingZeros64(gone))
	}
	if s.Torn != 0 {
		return fmt.Errorf("the sink log names parts of batch %d that are not stored",
			bits.TrailingZeros64(s.Torn))
	}
	switch {
	case s.Shared:
		return errors.New("two runs take the same entry of a log for their own")
	case s.Changed:
		return errors.New("an entry of the sink log was put over another run's")
	}
	return nil
}

// drained: when all is quiet, everything is committed, unless the checkpoint was lost
// and the tile refuses to go on.
func (t tile) drained(s *TileState) error {
	for r := range t.runs {
		if s.Runs[r].Step != tileRefuses {
			continue
		}
		if !s.Lost {
			return errors.New("a run refuses to go on though nothing was lost")
		}
		return nil
	}
	if end := s.end(int(s.Committed)); end < t.records {
		return fmt.Errorf("only %d of %d offsets are committed", end, t.records)
	}
	return nil
}
