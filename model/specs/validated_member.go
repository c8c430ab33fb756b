package specs

import "github.com/hopcheck/hopcheck/model/check"

// init is InitProducerID of a process that has no epoch, when it starts or when it has
// its first batch. It aborts what its predecessor has left open; until that is over, and
// while markers are on their way, the answer is CONCURRENT_TRANSACTIONS. Then it has an
// epoch, and everybody else's is stale.
func (d *validated) init(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, i := &s.Members[m], d.id(m)
	if me.Epoch != none || !d.free && me.Stage != down && me.Stage != working {
		return
	}
	switch s.Ids[i].Phase {
	case ongoing:
		n := c.Do("init aborts", m)
		d.raise(n, i, m)
		n.Ids[i].Phase = aborting
	case idle:
		n := c.Do("init", m)
		d.raise(n, i, m)
		you := &n.Members[m]
		you.Stage, you.Epoch = max(you.Stage, ready), current
	}
}

// group gives the partition to a member, and takes it from one that the group knows no
// more. A member begins at the group's offset, and asks for it until no transaction is
// open that may still move it. The mistake no-require-stable takes what there is.
func (d *validated) group(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me := &s.Members[m]
	switch {
	case !me.Has && me.Stage <= ready && s.Owner == 0:
		n := c.Do("assign", m)
		n.Owner = uint8(m) + 1
		n.Members[m].Has, n.Members[m].Stage = true, asking
	case me.Has && int(s.Owner) != m+1 && me.Stage != ending &&
		(me.Waits == forNobody || me.Waits == hasAsked):
		you := &c.Do("drop", m).Members[m]
		you.Has, you.Waits = false, forNobody
		switch {
		case you.Epoch == none:
			*you = ValidatedMember{}
		case you.Stage >= working && you.Stage <= failed:
			you.Stage = failed
		default:
			*you = ValidatedMember{Stage: ready, Epoch: me.Epoch}
		}
	case me.Has && me.Stage == asking && (d.stable(s) || d.bug == noRequireStable):
		you := &c.Do("ask", m).Members[m]
		you.Stage, you.From, you.Sent, you.Next = ready, s.Commit, s.Commit, s.Commit
	}
}

// stable says that the group has no pending offset.
func (d *validated) stable(s *ValidatedState) bool {
	return s.Ids[0].Pending|s.Ids[1].Pending == 0
}

// poll brings any number of the records that come next.
func (d *validated) poll(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me := &s.Members[m]
	if me.Stage != ready || !me.Has {
		return
	}
	for end := int(me.Next) + 1; end <= d.records; end++ {
		you := &c.Do("poll", m).Members[m]
		you.Stage, you.Next = working, uint8(end)
	}
}

// produce sends outputs of the batch in hand: in order, in any number of requests, and
// one at a time. While the markers of the transaction before are on their way the
// answer is CONCURRENT_TRANSACTIONS. Before KIP-890 the output is added to the
// transaction first.
func (d *validated) produce(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, id := &s.Members[m], &s.Ids[d.id(m)]
	if me.Stage != working || me.Epoch != current || id.Phase > ongoing {
		return
	}
	if me.Waits >= inVain { // the same sequence numbers: what is there is not appended again
		n := c.Do("produce again", m)
		n.Members[m].Waits = forAnswer
		d.append(n, m)
		return
	}
	open := d.accepted(me.Sent, me.Next)
	if open == 0 || me.Waits != forNobody {
		return
	}
	if !d.kip890 && id.Facts&outputIn == 0 {
		d.add(c, m, "add output", outputIn)
		return
	}
	for end := me.Sent + 1; end <= me.Next; end++ {
		if open&bit(int(end-1)) == 0 {
			continue
		}
		n := c.Do("produce", m)
		n.Members[m].Sent, n.Members[m].Waits = end, forAnswer
		d.append(n, m)
		if d.free || s.Left.Lost > 0 {
			n = c.Fault("produce, answer lost", m)
			n.Members[m].Sent, n.Members[m].Waits = end, inVain
			d.append(n, m)
			d.lose(n)
			n = c.Fault("produce fails", m)
			n.Members[m].Sent, n.Members[m].Waits = end, inVain
			if d.late {
				n.Members[m].Waits = underWay
			}
			d.lose(n)
		}
	}
}

// add is AddPartitionsToTxn or AddOffsetsToTxn, which begins the transaction.
func (d *validated) add(c *check.Out[ValidatedState], m int, action string, part facts) {
	id := &c.Do(action, m).Ids[d.id(m)]
	id.Phase = ongoing
	id.Facts |= part
}

// offer adds the offset after the batch to the transaction, once every output is
// acknowledged. The group takes it from the owner alone; the mistake
// no-generation-check lets anybody. What was not answered is asked again.
func (d *validated) offer(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, id := &s.Members[m], &s.Ids[d.id(m)]
	again := me.Stage == offered && me.Waits == inVain
	if !again && (me.Stage != working || me.Waits != forNobody) ||
		me.Epoch != current || id.Phase > ongoing || d.accepted(me.Sent, me.Next) != 0 {
		return
	}
	switch {
	case d.bug == sideBefore || d.bug == sideAfter:
		d.beside(c, s, m)
		return
	case !d.kip890 && id.Facts&groupIn == 0:
		d.add(c, m, "add group", groupIn)
		return
	case int(s.Owner) != m+1 && d.bug != noGeneration:
		n := c.Do("offsets refused", m)
		n.Members[m].Stage, n.Members[m].Waits = failed, forNobody
		return
	}
	n := c.Do("offsets", m)
	d.pend(n, m, forAnswer)
	if d.free || !again && s.Left.Lost > 0 {
		n = c.Fault("offsets, answer lost", m)
		d.pend(n, m, inVain)
		d.lose(n)
		n = c.Fault("offsets fails", m)
		n.Members[m].Stage, n.Members[m].Waits = offered, inVain
		d.lose(n)
	}
}

// pend makes the next offset of m pending. The mistake commit-last takes the offset of
// the last record.
func (d *validated) pend(n *ValidatedState, m int, w waits) {
	id, you := &n.Ids[d.id(m)], &n.Members[m]
	you.Stage, you.Waits = offered, w
	id.Phase, id.Pending = ongoing, you.Next
	id.Facts |= groupIn
	if d.bug == commitLast {
		id.Pending--
	}
}

// commit is EndTxn of a member whose transaction has everything. Who got no answer asks
// again: the coordinator answers what it has done.
func (d *validated) commit(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, id := &s.Members[m], &s.Ids[d.id(m)]
	switch {
	case me.Epoch != current:
	case me.Stage == offered && me.Waits == forNobody && id.Phase == ongoing:
		n := c.Do("commit", m)
		d.decide(n, d.id(m))
		n.Members[m].Stage, n.Members[m].Waits = ending, forAnswer
		if d.free || s.Left.Lost > 0 {
			n = c.Fault("commit, answer lost", m)
			d.decide(n, d.id(m))
			n.Members[m].Stage, n.Members[m].Waits = ending, inVain
			d.lose(n)
			n = c.Fault("commit fails", m)
			n.Members[m].Stage, n.Members[m].Waits = ending, inVain
			d.lose(n)
		}
	case me.Stage == ending && me.Waits == inVain:
		n := c.Do("commit again", m)
		n.Members[m].Waits = forAnswer
		if id.Phase == ongoing {
			d.decide(n, d.id(m))
		}
	}
}

// hear brings answers, or the end of waiting for them: then the transaction is given up.
func (d *validated) hear(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me := &s.Members[m]
	if d.free && me.Waits <= forAnswer && me.Stage >= working && me.Stage <= ending {
		you := &c.Do("give up", m).Members[m] // for a reason of its own
		you.Stage, you.Waits = failed, forNobody
	}
	switch {
	case me.Waits == forNobody:
	case me.Waits >= inVain && me.Stage != failed:
		n := c.Do("give up", m)
		you := &n.Members[m]
		if you.Waits == underWay && you.Epoch == current {
			n.Ids[d.id(m)].Facts |= late
		}
		if d.bug == replay && you.Stage == ending {
			you.Stage, you.Waits = failed, forReplay
			return
		}
		you.Stage, you.Waits = failed, forNobody
	case me.Stage == working:
		c.Do("produce answered", m).Members[m].Waits = forNobody
	case me.Stage == offered:
		c.Do("offsets answered", m).Members[m].Waits = forNobody
	case me.Stage == ending && d.bug == sideAfter:
		d.beside(c, s, m)
	case me.Stage == ending:
		you := &c.Do("commit answered", m).Members[m]
		you.Stage, you.Waits, you.From, you.Sent = ready, forNobody, you.Next, you.Next
	}
}

// abort ends the transaction of a member that has given it up: by EndTxn, or, where the
// outcome of a commit is unknown, by InitProducerID at the epoch that it has. Either is
// answered when nothing is open any more. Then only the group knows its position; the
// mistake replay-from-memory believes that nothing was committed. A member whose epoch
// is stale is told so by whatever it asks next, and exits.
func (d *validated) abort(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me, i := &s.Members[m], d.id(m)
	if me.Epoch == stale && me.Waits != forAnswer && me.Stage >= working && me.Stage <= failed {
		d.gone(c.Do("fenced", m), m)
	}
	switch {
	case me.Stage != failed:
	case me.Epoch == current && s.Ids[i].Phase == ongoing:
		n := c.Do("abort", m)
		n.Ids[i].Phase = aborting
		d.settle(n, m)
	case me.Epoch == current && s.Ids[i].Phase == idle || d.free && me.Epoch == stale:
		d.settle(c.Do("nothing open", m), m)
	}
}

// settle is what a member does whose transaction is over and not committed.
func (d *validated) settle(n *ValidatedState, m int) {
	you := &n.Members[m]
	is := ValidatedMember{Stage: ready, Epoch: you.Epoch, Has: you.Has}
	switch {
	case you.Waits == forReplay:
		is = *you
		is.Stage, is.Waits, is.Sent = working, forNobody, you.From
	case you.Waits == hasAsked:
		is.From, is.Sent, is.Next = you.Next, you.Next, you.Next
	case you.Has:
		is.Stage = asking
	}
	*you = is
}

// gone is the end of a process.
func (d *validated) gone(n *ValidatedState, m int) {
	n.Members[m] = ValidatedMember{}
	if int(n.Owner) == m+1 {
		n.Owner = 0
	}
}

// faulty is what the world does to member m: it kills it, or the group gives its
// partition to others while it does not listen.
func (d *validated) faulty(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	if d.free || s.Left.Crashes > 0 && s.Members[m] != (ValidatedMember{}) {
		n := c.Fault("crash", m)
		d.gone(n, m)
		if !d.free {
			n.Left.Crashes--
		}
	}
	if int(s.Owner) == m+1 && (d.free || s.Left.Moves > 0) {
		n := c.Fault("move", m)
		n.Owner = 0
		if !d.free {
			n.Left.Moves--
		}
	}
}

func (d *validated) lose(n *ValidatedState) {
	if !d.free {
		n.Left.Lost--
	}
}
