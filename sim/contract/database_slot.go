package contract

import "fmt"

var slots = []databaseSentence{
	{"what nobody reads is retained", retained},
	{"confirming makes the slot catch up", catchesUp},
	{"a slot that retains too much is lost, and says so", lost},
	{"a slot that is not there is said to be missing", missing},
	{"a slot that was created anew does not hide the gap", createdAnew},
}

// slot returns the slot's figures.
func (c *client) slot() (state string, retained, lag int64) {
	c.Helper()
	state, retained, lag, err := c.db.Slot(c.ctx())
	c.must("slot", err)
	if retained < 0 || lag < 0 {
		c.Errorf("the slot retains %d bytes and lags by %d", retained, lag)
	}
	return state, retained, lag
}

func retained(s *server) {
	a := s.client()
	state, before, lagBefore := a.slot()
	if state != "reserved" {
		s.Errorf("a fresh slot is %s", state)
	}
	a.enrolled("l/a", "l/b", "l/c")
	_, after, lag := a.slot()
	if after <= before || lag <= lagBefore || after < lag {
		s.Errorf("it retained %d bytes and lagged by %d, and after three changes %d and %d",
			before, lagBefore, after, lag)
	}
}

func catchesUp(s *server) {
	a, b := s.client(), s.client()
	a.enrolled("l/a", "l/b", "l/c")
	_, _, before := a.slot()
	b.stream("")
	b.nexts("l/a", "l/b", "l/c")
	k, err := b.read()
	s.must("next", err)
	b.confirm(k.lsn)
	s.within("the slot is caught up", func() error {
		if _, _, after := a.slot(); after >= before {
			return fmt.Errorf("it lagged by %d bytes before, and by %d now", before, after)
		}
		return nil
	})
}

func lost(s *server) {
	if s.Overfill == nil || s.Checkpoint == nil {
		s.Skip("this server keeps everything")
	}
	a, b := s.client(), s.client()
	a.enrolled("l/a")
	b.stream("")
	at := b.nexts("l/a")[0].lsn
	b.end()
	s.Overfill()
	if state, _, _ := a.slot(); state != "unreserved" && state != "lost" {
		s.Errorf("a slot that retains too much is %s", state)
	}
	s.within("the slot is lost", func() error {
		s.Checkpoint()
		if state, _, _ := a.slot(); state != "lost" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	for _, from := range []string{"", at} {
		if err := a.db.Stream(s.ctx(), from); !slotLost(err) {
			s.Errorf("a stream from %q of a lost slot: %v", from, err)
		}
	}
}

func missing(s *server) {
	if s.DropSlot == nil {
		s.Skip("this slot cannot be dropped")
	}
	a := s.client()
	s.DropSlot()
	if state, _, _ := a.slot(); state != "missing" {
		s.Errorf("a slot that is not there is %s", state)
	}
	if err := a.db.Stream(s.ctx(), ""); !slotLost(err) {
		s.Errorf("a stream of no slot: %v", err)
	}
}

func createdAnew(s *server) {
	if s.DropSlot == nil || s.CreateSlot == nil {
		s.Skip("this slot cannot be created")
	}
	a, b := s.client(), s.client()
	a.enrolled("l/a")
	b.stream("")
	at := b.nexts("l/a")[0].lsn
	b.end()
	s.within("the slot is dropped", func() error {
		s.DropSlot()
		if state, _, _ := a.slot(); state != "missing" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	a.enrolled("l/b")
	s.CreateSlot()
	c := s.client()
	if err := c.db.Stream(s.ctx(), at); !slotLost(err) {
		s.Errorf("a stream from before the new slot: %v", err)
	}
	a.enrolled("l/c")
	c.stream("")
	c.nexts("l/c")
}
