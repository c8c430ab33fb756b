package specs

import (
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// bitsOf is the size of a set.
func bitsOf(set uint64) int { return bits.OnesCount64(set) }

// What follows are steps that only histories have.

// claimUnheard is a claim whose answer is lost: its rows are locked all the same.
func (e enrollment) claimUnheard(
	c *check.Out[EnrollmentState], s *EnrollmentState, p int,
) {
	rows := e.freeRows(s)
	n := c.Fault("claim, answer lost", p)
	for range e.batch {
		if rows != 0 {
			oldest := bit(e.oldest(s, rows))
			n.Locked, rows = n.Locked|oldest, rows&^oldest
		}
	}
}

// giveUp is a poller that waits no longer, and whose calls that say so are late: its
// rows stay locked.
func (e enrollment) giveUp(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if s.Log || me.Claimed == 0 {
		return
	}
	n := c.Fault("give up", p)
	if me.Locks {
		n.Locked |= me.Claimed
	}
	n.Publishers[p].drop()
}

// marksOf marks a claim of some changes: the one in hand, or one that its poller waits for
// no longer, and whose mark is late. Its connection holds the rows until then.
func marksOf(changes uint64) enrollmentDoes {
	return func(e enrollment, c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
		if s.Publishers[p].Claimed == changes {
			e.mark(c, s, p)
		}
		if changes != 0 && s.Locked&changes == changes && s.Appended&changes == changes {
			n := c.Fault("late mark", p)
			n.Marked, n.Locked = s.Marked|changes, s.Locked&^changes
		}
	}
}

// releases gives a claim of some changes back.
func releases(changes uint64) enrollmentDoes {
	return func(e enrollment, c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
		if s.Publishers[p].Claimed == changes {
			e.release(c, s, p)
		}
		if s.Locked&changes != 0 {
			c.Do("unlock", p).Locked &^= changes
		}
	}
}

// unlock ends such a claim of some changes.
func unlock(changes uint64) enrollmentDoes {
	return func(_ enrollment, c *check.Out[EnrollmentState], _ *EnrollmentState, p int) {
		c.Do("unlock", p).Locked &^= changes
	}
}

// confirmUpTo is a confirmation of the changes below one. It may have been asked for
// before the last acks came, or arrive when the stream is over.
func confirmUpTo(upTo uint8) enrollmentDoes {
	return func(_ enrollment, c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
		me := &s.Publishers[p]
		if me.Waits || upTo > me.Knows {
			return
		}
		if me.Streams {
			n := c.Do("confirm", p)
			n.Confirmed, n.Publishers[p].Waits = max(s.Confirmed, upTo), true
			c.Fault("confirm, answer lost", p).Confirmed = max(s.Confirmed, upTo)
		}
		c.Fault("confirm fails", p)
	}
}

// appends puts one change into the topic; late also where it is not in its turn any
// more, since its producer has been given up.
func appends(change int, late bool) enrollmentDoes {
	return func(e enrollment, c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
		if change < 0 {
			return
		}
		if e.sendable(s, p)&bit(change) != 0 {
			e.appendOne(c, s, p, change)
		}
		if late && change < int(s.Committed) {
			c.Fault("late append", p).append(e, change)
		}
	}
}
