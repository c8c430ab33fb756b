package specs

import (
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// sendable are the changes in hand that a publisher may send: of each key the first
// that is not known to be in the topic.
func (e enrollment) sendable(s *EnrollmentState, p int) uint64 {
	me := &s.Publishers[p]
	var first, keys uint64
	for open := me.Claimed &^ me.Acked; open != 0; {
		i := bits.TrailingZeros64(open)
		if !s.Log {
			i = e.oldest(s, open)
		}
		open &^= bit(i)
		if keys&bit(i) == 0 {
			first |= bit(i)
			keys |= e.ofKey(i)
		}
	}
	return first &^ me.Flying
}

// append puts the changes that come next into the topic.
func (e enrollment) append(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	for open := e.sendable(s, p); open != 0; open &= open - 1 {
		e.appendOne(c, s, p, bits.TrailingZeros64(open))
	}
}

// appendOne puts one change into the topic. Its producer knows a request that it makes
// again; one that another producer makes is a copy.
func (e enrollment) appendOne(c *check.Out[EnrollmentState], s *EnrollmentState, p, change int) {
	again := s.Publishers[p].Sent&bit(change) != 0
	put := func(n *EnrollmentState) *Publisher {
		if !again {
			n.append(e, change)
		}
		n.Publishers[p].Sent |= bit(change)
		return &n.Publishers[p]
	}
	put(c.Do("append", p)).Flying |= bit(change)
	if e.free || s.Left.Lost > 0 && !again {
		n := c.Fault("append, answer lost", p)
		put(n)
		e.lose(n)
	}
	if e.free {
		c.Fault("append fails", p)
	}
}

// append puts a copy of a change into the topic, and the fold reads it: it keeps the
// greatest position of each key, and neither an equal one nor a smaller one changes it.
// The mistake row-lsn goes by the position of the row, which is in the order of ids; the
// mistake equal-applied counts a copy of the last change once more.
func (s *EnrollmentState) append(e enrollment, change int) {
	s.Appended |= bit(change)
	last := &s.Fold[e.keys[change]]
	switch was := int(*last) - 1; {
	case was < 0:
		*last = uint8(change) + 1
	case was == change:
		s.Twice = s.Twice || e.bug == equalApplied
	case e.bug == rowLSN && e.id(s, change) < e.id(s, was):
	case e.bug == rowLSN || change > was:
		*last = uint8(change) + 1
	}
}

// ack brings acknowledgements.
func (e enrollment) ack(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	for flying := s.Publishers[p].Flying; flying != 0; flying &= flying - 1 {
		c.Do("ack", p).Publishers[p].ack(s.Log, flying&-flying)
	}
}

// ack takes the acknowledgement of a change. A log publisher has then reached all up to
// the first change that has none.
func (you *Publisher) ack(log bool, change uint64) {
	you.Flying &^= change
	you.Acked |= change
	for log && you.Acked&bit(int(you.Reached)) != 0 {
		reached := bit(int(you.Reached))
		you.Claimed, you.Sent, you.Acked =
			you.Claimed&^reached, you.Sent&^reached, you.Acked&^reached
		you.Reached++
		you.Knows = you.Reached
	}
}

// late is a request of a producer that is gone: it may still arrive.
func (e enrollment) late(c *check.Out[EnrollmentState], s *EnrollmentState, who int) {
	for slow := s.Slow; slow != 0; slow &= slow - 1 {
		n := c.Do("late append", who)
		n.Slow &^= slow & -slow
		n.append(e, bits.TrailingZeros64(slow))
	}
}

// leave lets a request of a producer that is given up stay on its way.
func (s *EnrollmentState) leave(e enrollment, p int) {
	if s.Left.Late == 0 || e.free {
		return
	}
	if open := e.sendable(s, p); open != 0 {
		s.Slow |= open & -open
		s.Left.Late--
	}
}
