package specs

import "github.com/hopcheck/hopcheck/model/check"

// raise gives transactional id i a new epoch. Who has it is m, Nobody for a timeout:
// a member that loses it to another one has been fought.
func (d *validated) raise(n *ValidatedState, i, m int) {
	for o := range d.members {
		if you := &n.Members[o]; d.id(o) == i && you.Epoch == current {
			you.Epoch = stale
			if m != check.Nobody && o != m {
				n.Harm = fought
			}
		}
	}
	if id := &n.Ids[i]; id.Phase == ongoing && id.Facts&outputIn != 0 {
		id.Facts &^= late // the marker tells the partition
	}
}

// append puts what m has sent into the output, as part of its transaction.
func (d *validated) append(n *ValidatedState, m int) {
	id, me := &n.Ids[d.id(m)], &n.Members[m]
	if id.To == 0 {
		id.From = me.From
	}
	id.Phase, id.To = ongoing, me.Sent
	id.Facts |= outputIn
	id.Facts &^= late // what comes later has an old epoch, or old sequence numbers
}

// coordinate is what brokers do with transactional id i: they write the markers of a
// transaction that is decided, in any order, and abort one that is open for too long.
func (d *validated) coordinate(c *check.Out[ValidatedState], s *ValidatedState, i int) {
	id := &s.Ids[i]
	switch {
	case id.Phase == idle:
	case id.Phase == ongoing:
		d.timeout(c, s, i)
	default:
		if id.Facts&outputIn != 0 {
			n := c.Do("output marker", i)
			d.outputMarker(n, i)
			n.Ids[i].end()
		}
		if id.Facts&groupIn != 0 {
			n := c.Do("group marker", i)
			n.groupMarker(i)
			n.Ids[i].end()
		}
	}
	if id.Facts&late != 0 {
		d.lateAppend(c, i)
	}
}

// end makes a transaction complete when its last marker is written.
func (id *ValidatedID) end() {
	if id.Facts&(outputIn|groupIn) == 0 {
		id.Phase = idle
	}
}

// decide ends the transaction of id i: from now on it is committed, and its outputs are
// visible when their marker is written. Who reads at read_committed sees transactions in
// the order in which they were begun, since the last stable offset waits for each.
func (d *validated) decide(n *ValidatedState, i int) {
	id := &n.Ids[i]
	id.Phase = committing
	if id.To == 0 {
		return
	}
	switch {
	case d.accepted(id.From, min(id.To, n.Output)) != 0:
		n.Harm = twiceVisible
	case d.accepted(n.Output, id.From) != 0:
		n.Harm = outOfOrder
	}
	n.Output = max(n.Output, id.To)
}

// outputMarker commits or aborts what is open in the output. The mistake
// read-uncommitted has seen it in any case.
func (d *validated) outputMarker(n *ValidatedState, i int) {
	id := &n.Ids[i]
	if id.Phase == committing && id.Facts&foreign != 0 ||
		id.Phase == aborting && id.To > 0 && d.bug == readUncommitted {
		n.Harm = abortedVisible
	}
	id.From, id.To = 0, 0
	id.Facts &^= outputIn | foreign
}

// groupMarker commits or aborts the pending offset.
func (s *ValidatedState) groupMarker(i int) {
	id := &s.Ids[i]
	if id.Phase == committing && id.Pending > 0 {
		if id.Pending < s.Commit {
			s.Harm = backward
		}
		s.Commit = id.Pending
	}
	id.Pending = 0
	id.Facts &^= groupIn
}

// timeout aborts a transaction and makes its producer's epoch stale. It is sure to come
// if nobody is there to end the transaction.
func (d *validated) timeout(c *check.Out[ValidatedState], s *ValidatedState, i int) {
	held := false
	for m := range d.members {
		held = held || d.id(m) == i && s.Members[m].Epoch == current
	}
	if held && !d.free && s.Left.Timeouts == 0 {
		return
	}
	var n *ValidatedState
	if held {
		n = c.Fault("timeout", i)
	} else {
		n = c.Do("timeout", i)
	}
	if held && !d.free {
		n.Left.Timeouts--
	}
	d.raise(n, i, check.Nobody)
	n.Ids[i].Phase = aborting
}

// lateAppend is an append of a transaction that was aborted meanwhile. Since KIP-890
// each transaction has an epoch of its own, so it is refused. Before, the partition
// takes it as long as it has not heard of a newer epoch; if the coordinator knows of no
// transaction there, nobody ends this one, and readers wait for ever.
func (d *validated) lateAppend(c *check.Out[ValidatedState], i int) {
	if d.kip890 {
		c.Fault("late append refused", i).Ids[i].Facts &^= late
		return
	}
	id := &c.Fault("late append", i).Ids[i]
	id.Facts &^= late
	id.Facts |= foreign
}
