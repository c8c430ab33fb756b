package specs

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// MaxLandingMembers is the most members that a LandingState has room for.
const MaxLandingMembers = 2

// LandingState is one partition on its way into the store. Sets of offsets are bit
// masks.
type LandingState struct {
	Members [MaxLandingMembers]LandingMember

	Stored uint64 // offsets that have a line in an object
	Starts uint64 // offsets at which an object begins
	Dead   uint64 // offsets that have a dead letter
	Commit uint8  // the group's offset
	Owner  uint8  // who owns the partition, as the group sees it: number plus 1; 0: nobody

	Twice    bool // an offset was put into a second object
	Backward bool // the group's offset has moved backwards

	Left LandingFaults
}

// LandingFaults is how many faults may still happen.
type LandingFaults struct{ Crashes, Stops, Pauses, Rebalances, Lost, Late uint8 }

// LandingMember is what a member has in hand.
type LandingMember struct {
	Settled   uint64 // offsets that it knows are stored or dead-lettered
	Letters   uint64 // dead letters whose acks will come
	Next      uint8  // offsets below it were polled
	Committed uint8  // the group's offset, as far as it knows
	Asked     uint8  // the highest offset that it asked the group to commit
	Held      uint8  // where the object of the block in hand ends, as far as it knows
	High      uint8  // the highest Next ever: slow calls may be about anything below
	Waits     waiting
	At        uint8 // what the answer is about: an offset or the end of a range
	Has       bool  // it believes that it owns the partition
	Look      bool  // a put was refused: it must read what there is
	Stopping  bool  // it was asked to end: it commits what is settled, and goes
}

// waiting is what a member waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forPut
	forCommit
)

// landing is the specification of hop 2, for one partition.
type landing struct {
	records, block, members int
	rejects                 uint64
	faults                  LandingFaults
	bug                     string
	// free lets faults happen without end, and adds the steps that change nothing:
	// for comparison with histories.
	free bool
}

func newLanding(v Values, bug string) landing {
	l := landing{
		records: v["records"], block: v["block"], members: v["members"], bug: bug,
		faults: LandingFaults{
			uint8(v["crashes"]), uint8(v["stops"]), uint8(v["pauses"]), uint8(v["rebalances"]),
			uint8(v["lost"]), uint8(v["late"]),
		},
	}
	for i := range v["rejects"] {
		if o := 2*i + 1; o < l.records {
			l.rejects |= bit(o)
		}
	}
	return l
}

func (l landing) spec() check.Spec[LandingState] {
	name := "landing"
	if l.bug != "" {
		name += " " + l.bug
	}
	return check.Spec[LandingState]{
		Name: name, Init: []LandingState{{Left: l.faults}},
		Next: l.next, Always: l.kept, Quiescent: l.drained,
	}
}

// done is the first offset that m does not know to be settled.
func (m *LandingMember) done() int { return bits.TrailingZeros64(^m.Settled) }

// good are the offsets whose records the contract accepts.
func (l landing) good() uint64 { return below(l.records) &^ l.rejects }

// blockOf returns where the block of an offset begins and ends.
func (l landing) blockOf(offset int) (start, end int) {
	start = offset - offset%l.block
	return start, start + l.block
}

// next is one step of anybody. A member takes its own in order: it puts the good
// records, buries the rejects, commits.
func (l landing) next(c *check.Out[LandingState], s *LandingState) {
	for m := range l.members {
		l.group(c, s, m)
		l.hear(c, s, m)
		l.poll(c, s, m)
		l.put(c, s, m)
		l.commit(c, s, m)
		l.bury(c, s, m)
		l.late(c, s, m)
		l.faulty(c, s, m)
	}
}

// poll brings any number of the records that come next. Those that the object of the
// block in hand has are settled. The mistake range-from-poll polls when it is done with
// the last poll.
func (l landing) poll(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	if !me.Has || !l.free && (me.Waits != forNothing || me.Stopping) ||
		l.bug == pollNamed && l.good()&below(int(me.Next))&^me.Settled != 0 {
		return
	}
	for end := int(me.Next) + 1; end <= l.records; end++ {
		you := &c.Do("poll", m).Members[m]
		you.Next, you.High = uint8(end), l.high(me, end)
		you.Settled |= l.good() & below(min(int(you.Held), end))
	}
}

// high remembers how far a member has polled, where slow calls matter.
func (l landing) high(me *LandingMember, end int) uint8 {
	if !l.free && l.faults.Late == 0 {
		return 0
	}
	return max(me.High, uint8(end))
}

// group gives the partition to a member, which goes on at the group's offset, and
// takes it from one that the group knows no more.
func (l landing) group(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	if s.Owner == 0 && !me.Has {
		n := c.Do("assign", m)
		n.Owner = uint8(m) + 1
		n.Members[m] = LandingMember{
			Has: true, Next: s.Commit, Committed: s.Commit, Asked: s.Commit,
			Settled: below(int(s.Commit)), High: l.high(me, int(s.Commit)),
			Letters: l.letters(me),
		}
	}
	if !l.free && me.Stopping && me.Waits == forNothing && int(me.Asked) == me.done() {
		n := c.Do("leave", m)
		n.Members[m] = LandingMember{High: me.High}
		if int(s.Owner) == m+1 {
			n.Owner = 0
		}
	}
	if me.Has && me.Waits == forNothing && int(s.Owner) != m+1 {
		n := c.Do("drop", m)
		n.Members[m] = LandingMember{High: me.High, Letters: l.letters(me)}
	}
}

// letters are the dead letters that are still under way when a member has dropped the
// partition: their acks tell it nothing, but a history has them.
func (l landing) letters(me *LandingMember) uint64 {
	if !l.free {
		return 0
	}
	return me.Letters
}

// hear brings answers.
func (l landing) hear(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	switch me.Waits {
	case forPut:
		n := c.Do("put answered", m)
		you := &n.Members[m]
		you.Settled |= l.good() & below(int(me.At))
		you.Held, you.Waits, you.At = max(me.Held, me.At), forNothing, 0
	case forCommit:
		n := c.Do("commit answered", m)
		you := &n.Members[m]
		you.Committed, you.Waits, you.At = me.At, forNothing, 0
	}
	if me.Waits != forNothing && me.Stopping {
		n := c.Do("give up", m) // its context has ended
		n.Members[m].Waits, n.Members[m].At = forNothing, 0
	}
	for letters := me.Letters; letters != 0; letters &= letters - 1 {
		o := bits.TrailingZeros64(letters)
		n := c.Do("letter answered", m)
		n.Members[m].Letters &^= bit(o)
		n.Members[m].Settled |= bit(o)
	}
}

// put stores what comes next. Who is asked to end begins nothing new, but what it has
// begun may be on its way.
func (l landing) put(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	switch {
	case !me.Has || me.Waits != forNothing || me.Stopping && !l.free:
	case l.block == 0:
		l.putRecord(c, s, m)
	default:
		l.putBlock(c, s, m)
	}
}

// putRecord puts the first good record that is not settled under its own name, again
// and again until the answer comes. The mistake range-from-poll puts all that is in
// hand as one object.
func (l landing) putRecord(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	open := l.good() &^ me.Settled & below(int(me.Next))
	if open == 0 {
		return
	}
	first := bits.TrailingZeros64(open)
	last := first
	if l.bug == pollNamed {
		last = int(me.Next) - 1
	}
	object := below(last+1) &^ below(first)
	put := func(n *LandingState) {
		n.Twice = n.Twice || l.overlaps(s, first, last)
		n.Stored |= object
		n.Starts |= bit(first)
	}
	n := c.Do("put", m)
	put(n)
	n.Members[m].Waits, n.Members[m].At = forPut, uint8(last+1)
	if l.free || s.Left.Lost > 0 {
		n = c.Fault("put, answer lost", m)
		put(n)
		l.lose(n)
	}
	l.putFails(c, s, m, object)
}

// overlaps says that an object from first to last holds an offset that another
// object holds. Objects do not overlap before.
func (l landing) overlaps(s *LandingState, first, last int) bool {
	object := below(last+1) &^ below(first)
	same := s.Stored&object == object && s.Starts&object == bit(first) &&
		(s.Stored&bit(last+1) == 0 || s.Starts&bit(last+1) != 0)
	return s.Stored&object != 0 && !same
}

// putFails is a put that is refused for a reason of the store's. The put is made
// again; the mistake commit-past-failure goes on behind it.
func (l landing) putFails(c *check.Out[LandingState], s *LandingState, m int, object uint64) {
	if l.free || s.Left.Lost > 0 && l.bug == pastFailure {
		n := c.Fault("put fails", m)
		l.lose(n)
		if l.bug == pastFailure {
			n.Members[m].Settled |= object
		}
	}
}

// putBlock replaces the object of the block in hand by a longer one: the whole block,
// or, when nothing more comes for a while, what there is of it. The put names the
// object that it extends. The mistake zombie-overwrite names none.
func (l landing) putBlock(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	start, whole := l.blockOf(me.done())
	known := max(start, int(me.Held))
	end := min(whole, int(me.Next))
	stored := start + bits.OnesCount64(s.Stored&below(whole)&^below(start))
	if stored > known || me.Look || l.free {
		you := &c.Do("look", m).Members[m]
		you.Held, you.Look = uint8(stored), false
		you.Settled |= l.good() & below(min(stored, int(me.Next)))
	}
	if me.Look || end <= known {
		return
	}
	if stored != known && l.bug != zombieOverwrite {
		c.Do("put refused", m).Members[m].Look = true
		l.putFails(c, s, m, 0)
		return
	}
	from := end
	if l.free {
		from = known + 1 // it may have polled less than it fetched
	}
	for ; from <= end; from++ {
		l.replace(c, s, m, from)
	}
}

// replace puts the block in hand up to end in the place of its object.
func (l landing) replace(c *check.Out[LandingState], s *LandingState, m, end int) {
	start, whole := l.blockOf(s.Members[m].done())
	object := below(end) &^ below(start)
	block := below(whole) &^ below(start)
	n := c.Do("put", m)
	n.Stored, n.Starts = s.Stored&^block|object, s.Starts|bit(start)
	n.Members[m].Waits, n.Members[m].At = forPut, uint8(end)
	if l.free || s.Left.Lost > 0 {
		n = c.Fault("put, answer lost", m)
		n.Stored, n.Starts = s.Stored&^block|object, s.Starts|bit(start)
		l.lose(n)
	}
	l.putFails(c, s, m, object)
}

// bury sends a reject to the dead letters, once everything before it is stored, and
// the reject itself has its line in a block. Copies are allowed.
func (l landing) bury(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	hand := max(int(me.High), int(me.Next))
	for open := l.rejects & below(hand) &^ me.Letters; open != 0; open &= open - 1 {
		o := bits.TrailingZeros64(open)
		if l.block == 0 && l.good()&below(o)&^s.Stored != 0 || l.block > 0 && s.Stored&bit(o) == 0 {
			continue
		}
		inHand := me.Has && me.Settled&bit(o) == 0 && o < int(me.Next)
		if !inHand && !l.free {
			continue
		}
		n := c.Do("bury", m)
		n.Dead |= bit(o)
		n.Members[m].Letters |= bit(o)
		if l.free || s.Left.Lost > 0 {
			n = c.Fault("bury, answer lost", m)
			n.Dead |= bit(o)
			l.lose(n)
		}
		if s.Left.Lost > 0 && l.bug == ignoreLetter {
			n = c.Fault("bury fails", m)
			l.lose(n)
			n.Members[m].Settled |= bit(o)
		}
	}
}

// commit tells the group that everything below an offset is settled, and never asks for
// less than before. The group takes it from the owner alone. A member that others have
// taken over from is refused.
func (l landing) commit(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	if !me.Has || me.Waits != forNothing {
		return
	}
	settled := min(me.done(), int(me.Next))
	if l.bug == commitFirst {
		settled = int(me.Next)
	}
	first := max(int(me.Committed)+1, int(me.Asked))
	if l.free && me.Stopping {
		first = int(me.Asked) // the end of its context may hide an answer that came
	}
	for next := first; next <= settled; next++ {
		if l.free {
			c.Fault("commit fails", m).Members[m].Asked = uint8(next)
		}
		if int(s.Owner) != m+1 {
			if l.free {
				c.Do("commit refused", m).Members[m].Asked = uint8(next)
			}
			continue
		}
		offset := uint8(next)
		if l.bug == commitLast {
			offset--
		}
		n := c.Do("commit", m)
		n.Commit, n.Backward = offset, s.Backward || offset < s.Commit
		n.Members[m].Asked = uint8(next)
		n.Members[m].Waits, n.Members[m].At = forCommit, uint8(next)
		if l.free || s.Left.Lost > 0 {
			n = c.Fault("commit, answer lost", m)
			n.Commit, n.Backward = offset, s.Backward || offset < s.Commit
			n.Members[m].Asked = uint8(next)
			l.lose(n)
		}
	}
}

// late is a put that was slow: its member may have gone on, lost the partition or
// died. It does what it would have done then.
func (l landing) late(c *check.Out[LandingState], s *LandingState, m int) {
	if !l.free && s.Left.Late == 0 {
		return
	}
	high := below(int(s.Members[m].High))
	for o := range int(s.Members[m].High) {
		var object, rest uint64
		switch {
		case l.block == 0 && l.good()&bit(o) != 0:
			object = bit(o)
		case l.block > 0:
			start, whole := l.blockOf(o)
			rest = s.Stored & below(whole) &^ below(o+1)
			object = below(o+1) &^ below(start) & high
		}
		if object == 0 || rest != 0 || !l.free && object&^s.Stored == 0 {
			continue
		}
		n := c.Fault("late put", m)
		n.Stored |= object
		n.Starts |= object & -object
		if !l.free {
			n.Left.Late--
		}
	}
}

// faulty is what the world does to member m.
func (l landing) faulty(c *check.Out[LandingState], s *LandingState, m int) {
	me := &s.Members[m]
	owns := int(s.Owner) == m+1
	if l.free || s.Left.Crashes > 0 && *me != (LandingMember{}) {
		n := c.Fault("crash", m)
		n.Members[m] = LandingMember{High: me.High}
		if owns {
			n.Owner = 0
		}
		if !l.free {
			n.Left.Crashes--
		}
	}
	if l.free || s.Left.Stops > 0 && me.Has && !me.Stopping {
		n := c.Fault("stop", m)
		n.Members[m].Stopping = true
		if !l.free {
			n.Left.Stops--
		}
	}
	if owns && (l.free || s.Left.Pauses > 0) {
		n := c.Fault("pause", m)
		n.Owner = 0
		if !l.free {
			n.Left.Pauses--
		}
	}
	if !l.free && owns && me.Has && me.Waits == forNothing && s.Left.Rebalances > 0 {
		n := c.Fault("rebalance", m)
		n.Owner, n.Members[m] = 0, LandingMember{High: me.High}
		n.Left.Rebalances--
	}
}

func (l landing) lose(n *LandingState) {
	if !l.free {
		n.Left.Lost--
	}
}

// kept: every offset below the group's is in an object or a dead letter, and not in
// both; no offset is in two objects; the group's offset never moves backwards.
func (l landing) kept(s *LandingState) error {
	committed := below(int(s.Commit))
	if lost := committed & l.good() &^ s.Stored; lost != 0 {
		return fmt.Errorf("offset %d is below the group's offset %d, and in no object",
			bits.TrailingZeros64(lost), s.Commit)
	}
	if lost := committed & l.rejects &^ s.Dead; lost != 0 {
		return fmt.Errorf("offset %d is below the group's offset %d, and in no dead letter",
			bits.TrailingZeros64(lost), s.Commit)
	}
	if s.Dead&l.good() != 0 || l.block == 0 && s.Stored&l.rejects != 0 {
		return errors.New("an offset is in an object and in a dead letter")
	}
	switch {
	case s.Twice:
		return errors.New("an offset is in two objects")
	case s.Backward:
		return errors.New("the group's offset has moved backwards")
	}
	return nil
}

// drained: when all is quiet, everything has been landed and committed.
func (l landing) drained(s *LandingState) error {
	if int(s.Commit) < l.records {
		return fmt.Errorf("the group's offset stays at %d of %d", s.Commit, l.records)
	}
	return nil
}
