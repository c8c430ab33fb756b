package specs

import "github.com/hopcheck/hopcheck/model/check"

// late is a put of a life that is over: it does what it would have done then, if
// nothing is there.
func (t tile) late(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if t.free {
		t.slow(c, s, r)
	}
	if me.Late == noWork {
		return
	}
	n := c.Do("late put", r)
	you := &n.Runs[r]
	you.Late, you.LateBatch, you.LateEnds = noWork, 0, 0
	switch batch := int(me.LateBatch); {
	case me.Late == planWork && s.planned() == batch:
		n.Ends |= bit(int(me.LateEnds) - 1)
	case me.Late == sinkWork && !s.has(me.LateBatch):
		n.name(t, me.LateBatch)
	case me.Late == commitWork && int(s.Committed) == batch:
		n.Committed++
	}
}

// slow is a call that anybody may have forgotten, in a history.
func (t tile) slow(c *check.Out[TileState], s *TileState, r int) {
	for end := s.end(s.planned()) + 1; end <= t.records; end++ {
		c.Fault("late put", r).Ends |= bit(end - 1)
	}
	for b := uint8(0); b <= s.Logged && int(b) < s.planned(); b++ {
		if !s.has(b) {
			c.Fault("late put", r).name(t, b)
		}
	}
	if s.Committed < s.Logged {
		c.Fault("late put", r).Committed++
	}
	for open := s.covered(); open != 0; open &= open - 1 {
		n := c.Fault("late remove", r)
		n.Entries, n.Compacts = n.Entries&^(open&-open), n.Compacts&^(open&-open)
	}
}

// crash kills a run. A put that it has begun may be on its way.
func (t tile) crash(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if !t.free && (s.Left.Crashes == 0 || me.Step == tileDown || me.Step == tileRefuses) {
		return
	}
	die := func(action string) *TileState {
		n := c.Fault(action, r)
		n.Runs[r].over()
		if !t.free {
			n.Left.Crashes--
		}
		return n
	}
	die("crash")
	if t.free || s.Left.Late == 0 || me.Late != noWork {
		return
	}
	slow := func(work tileWork, end int) {
		n := die("crash, put under way")
		n.Left.Late--
		you := &n.Runs[r]
		you.Late, you.LateBatch, you.LateEnds = work, me.Batch, uint8(end)
	}
	switch {
	case me.Step == tileRests && s.planned() == int(me.Batch):
		for end := int(me.End) + 1; end <= t.records; end++ {
			slow(planWork, end)
		}
	case t.does(me, sinkWork) || t.does(me, commitWork):
		slow(t.works[me.Done], 0)
	}
}

// accident is somebody who removes the checkpoint while nobody runs, and leaves what
// the sink has.
func (t tile) accident(c *check.Out[TileState], s *TileState, who int) {
	for r := range t.runs {
		if s.Runs[r].Step != tileDown || s.Runs[r].Late != noWork {
			return
		}
	}
	if s.Left.Accidents > 0 && s.Ends != 0 {
		n := c.Fault("lose checkpoint", who)
		n.Ends, n.Committed, n.Lost = 0, 0, true
		n.Left.Accidents--
	}
}

func (t tile) lose(n *TileState) {
	if !t.free {
		n.Left.Lost--
	}
}
