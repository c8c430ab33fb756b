package specs

import "github.com/hopcheck/hopcheck/model/check"

// validatedInternal are the steps that no history shows.
func validatedInternal(action string) bool {
	switch action {
	case "output marker", "group marker", "timeout", "move", "drop", "give up", "nothing open":
		return true
	}
	return false
}

// inside is the part of next that has the steps that no history shows.
func (d *validated) inside(c *check.Out[ValidatedState], s *ValidatedState) {
	for m := range d.members {
		d.group(c, s, m)
		d.hear(c, s, m)
		d.abort(c, s, m)
		d.faulty(c, s, m)
	}
	for i := range d.members {
		d.coordinate(c, s, i)
	}
}

// askAnyTime is a member that asks for the position, again maybe, or because it was
// assigned the partition; that may happen while it has a transaction to abort.
func (d *validated) askAnyTime(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me := &s.Members[m]
	mine := int(s.Owner) == m+1
	if !d.stable(s) {
		return
	}
	switch {
	case mine && me.Has && (me.Stage == asking || me.Stage == ready):
		you := &c.Do("ask", m).Members[m]
		you.Stage, you.From, you.Sent, you.Next = ready, s.Commit, s.Commit, s.Commit
	case me.Stage == failed && (mine || s.Owner == 0), me.Stage <= ready && s.Owner == 0:
		n := c.Do("assign", m)
		you := &n.Members[m]
		n.Owner, you.Has = uint8(m)+1, true
		you.From, you.Sent, you.Next = s.Commit, s.Commit, s.Commit
		if you.Stage == failed {
			you.Waits = hasAsked
		} else {
			you.Stage = ready
		}
	}
}

// initAnyTime is InitProducerID with all that it waits for. Of a member that has an epoch
// it ends the transaction in hand.
func (d *validated) initAnyTime(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	for _, action := range []string{"init", "init, answer lost"} {
		n := c.Do(action, m)
		i := d.id(m)
		d.raise(n, i, check.Nobody)
		id, you := &n.Ids[i], &n.Members[m]
		if id.Phase == ongoing {
			id.Phase = aborting
		}
		if id.Phase != idle {
			d.outputMarker(n, i)
			n.groupMarker(i)
			id.Phase = idle
		}
		if you.Epoch != none && you.Stage >= working && you.Stage <= failed {
			d.settle(n, m)
		}
		you.Stage, you.Epoch = max(you.Stage, ready), current
		if action != "init" {
			you.Epoch = none
		}
	}
}

// produceAnyTime adds that the answer to a repetition is lost, too, and that a member
// produces what it must abort.
func (d *validated) produceAnyTime(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	d.produce(c, s, m)
	me, id := &s.Members[m], &s.Ids[d.id(m)]
	switch {
	case me.Epoch != current || id.Phase > ongoing:
	case me.Stage == working && me.Waits >= inVain:
		d.append(c.Do("produce again, answer lost", m), m)
	case inVainOf(s, m):
		n := c.Do("produce in vain", m)
		you, id := &n.Members[m], &n.Ids[d.id(m)]
		id.Phase = ongoing
		id.Facts |= outputIn
		if you.Stage == ready {
			you.Waits = hasAsked
		}
		you.Stage = failed
	}
}

// inVainOf says that a member has lost, and may have back, the partition between the poll
// of a batch and its end. It may still produce the batch, and must abort it.
func inVainOf(s *ValidatedState, m int) bool {
	stage := s.Members[m].Stage
	return stage == ready || stage == asking || stage == failed
}

// abortAnyTime is an abort of a member for a reason of its own.
func (d *validated) abortAnyTime(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, i := &s.Members[m], d.id(m)
	if me.Epoch == current && s.Ids[i].Phase == ongoing &&
		me.Stage >= working && me.Stage <= failed {
		n := c.Do("abort", m)
		n.Ids[i].Phase = aborting
		d.settle(n, m)
	}
}

// commitAnyTime adds that the answer to a repetition is lost, too.
func (d *validated) commitAnyTime(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	d.commit(c, s, m)
	if me, i := &s.Members[m], d.id(m); me.Epoch == current && me.Stage == ending {
		n := c.Do("commit again, answer lost", m)
		if s.Ids[i].Phase == ongoing {
			d.decide(n, i)
		}
	}
}
