package specs

import (
	"math/bits"
	"slices"

	"github.com/hopcheck/hopcheck/model/check"
)

// The most publishers and keys that an EnrollmentState has room for.
const (
	MaxPublishers     = 2
	MaxEnrollmentKeys = 16
)

// EnrollmentState is a database's changes of enrollments on their way into a topic and
// into the fold of that. Changes are numbered in the order of their commits: only those
// that commit have a number. Sets of changes are bit masks.
type EnrollmentState struct {
	Publishers [MaxPublishers]Publisher

	Log       bool   // the publishers read the slot, not the outbox
	Order     uint16 // which of the orders of ids it is
	Drawn     uint64 // changes whose outbox row has its id
	Committed uint8  // so many changes are committed
	Marked    uint64 // changes whose row is marked as published
	Confirmed uint8  // the slot: changes below it are confirmed
	Saved     uint8  // what of that is on the server's disk

	Appended uint64                   // changes with a copy in the topic
	Slow     uint64                   // changes with a copy on its way, of a producer that is gone
	Locked   uint64                   // rows of claims that nobody knows of; only for histories
	Fold     [MaxEnrollmentKeys]uint8 // the fold's last change of each key, plus 1; 0: none
	Twice    bool                     // a copy has changed a count that it had changed before

	Left EnrollmentFaults
}

// EnrollmentFaults is how many faults may still happen.
type EnrollmentFaults struct{ Crashes, Servers, Lost, Late uint8 }

// Publisher is what a poller, or a log publisher, has in hand.
type Publisher struct {
	Claimed uint64 // rows of its claim, or changes that the stream handed out
	Sent    uint64 // of those, what its producer has put into the topic
	Flying  uint64 // of those, what has an ack under way
	Acked   uint64 // of those, what it knows to be in the topic
	Locks   bool   // its claim holds
	Streams bool   // it has the slot
	Next    uint8  // the change that the stream hands out next; the cursor of the mistake
	Reached uint8  // of this stream all below it is acknowledged
	Knows   uint8  // all below it is, as far as this life knows
	Waits   bool   // for an answer of the database; only for comparison with histories
}

// enrollment is the specification of hop 5.
type enrollment struct {
	changes, publishers, batch int
	log                        int // 0: pollers, 1: log publishers, 2: either
	faults                     EnrollmentFaults
	bug                        string
	keys                       []uint8   // of each change
	orders                     [][]uint8 // the place of each change in the order of ids
	// free lets faults happen without end, and adds the steps that change nothing:
	// for comparison with histories. Ended says that the stream has ended since what it
	// hands out was asked for.
	free, ended bool
}

func newEnrollment(v Values, bug string) enrollment {
	e := enrollment{
		changes: v["changes"], publishers: v["publishers"], batch: v["batch"],
		log: v["log"], bug: bug,
		faults: EnrollmentFaults{
			uint8(v["crashes"]), uint8(v["servers"]), uint8(v["lost"]), uint8(v["late"]),
		},
	}
	for i := range e.changes {
		e.keys = append(e.keys, enrollmentKeys[i]%uint8(v["keys"]))
	}
	e.orders = e.permutations(nil)
	return e
}

// enrollmentKeys are the keys of the changes to explore: of neighbours the same one and
// another one.
var enrollmentKeys = [...]uint8{0, 0, 1, 0, 2, 1}

// permutations returns the orders in which ids may be drawn, as the place of each
// change.
func (e enrollment) permutations(ids []uint8) (all [][]uint8) {
	if len(ids) == e.changes {
		places := make([]uint8, e.changes)
		for place, change := range ids {
			places[change] = uint8(place)
		}
		return [][]uint8{places}
	}
	for change := range uint8(e.changes) {
		if !slices.Contains(ids, change) {
			all = append(all, e.permutations(append(ids[:len(ids):len(ids)], change))...)
		}
	}
	return all
}

// locked says whether a key's ids are in the order of its commits. So it is where the
// application locks the row of the enrollment before it draws the id, as it must for
// pollers; for log publishers it may draw first.
func (e enrollment) locked(order []uint8) bool {
	for i := range order {
		for j := range i {
			if e.keys[i] == e.keys[j] && order[i] < order[j] {
				return false
			}
		}
	}
	return true
}

func (e enrollment) spec() check.Spec[EnrollmentState] {
	name := "enrollment"
	if e.bug != "" {
		name += " " + e.bug
	}
	spec := check.Spec[EnrollmentState]{
		Name: name, Next: e.next, Always: e.kept, Quiescent: e.drained,
	}
	for i, order := range e.orders {
		first := EnrollmentState{Order: uint16(i), Left: e.faults}
		if e.log != 1 && e.locked(order) {
			spec.Init = append(spec.Init, first)
		}
		if first.Log = true; e.log != 0 {
			spec.Init = append(spec.Init, first)
		}
	}
	return spec
}

// ofKey are the changes of the same key as one.
func (e enrollment) ofKey(change int) (same uint64) {
	for i, key := range e.keys {
		if key == e.keys[change] {
			same |= bit(i)
		}
	}
	return same
}

// ofKeys are the changes of the same keys as some.
func (e enrollment) ofKeys(changes uint64) (same uint64) {
	for ; changes != 0; changes &= changes - 1 {
		same |= e.ofKey(bits.TrailingZeros64(changes))
	}
	return same
}

// id is the place of a change in the order of ids.
func (e enrollment) id(s *EnrollmentState, change int) int {
	return int(e.orders[s.Order][change])
}

// oldest returns the change of a set with the smallest id.
func (e enrollment) oldest(s *EnrollmentState, changes uint64) int {
	best := bits.TrailingZeros64(changes)
	for rest := changes; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); e.id(s, i) < e.id(s, best) {
			best = i
		}
	}
	return best
}

func (e enrollment) next(c *check.Out[EnrollmentState], s *EnrollmentState) {
	e.draw(c, s, check.Nobody)
	e.commit(c, s, check.Nobody)
	for p := range e.publishers {
		if s.Log {
			e.stream(c, s, p)
			e.handOut(c, s, p)
			e.keepalive(c, s, p)
			e.confirm(c, s, p)
		} else {
			e.claim(c, s, p)
			e.mark(c, s, p)
		}
		e.release(c, s, p)
		e.hear(c, s, p)
		e.append(c, s, p)
		e.ack(c, s, p)
		e.crash(c, s, p)
	}
	for p := range e.publishers {
		if e.free {
			e.giveUp(c, s, p)
		}
	}
	e.late(c, s, check.Nobody)
	e.server(c, s, check.Nobody)
}

// draw inserts an outbox row: its id is drawn now, and seen at the commit.
func (e enrollment) draw(c *check.Out[EnrollmentState], s *EnrollmentState, who int) {
	if open := below(e.changes) &^ s.Drawn; open != 0 {
		c.Do("draw id", who).Drawn |= bit(e.oldest(s, open))
	}
}

// commit ends the transaction of the change whose commit comes next.
func (e enrollment) commit(c *check.Out[EnrollmentState], s *EnrollmentState, who int) {
	if int(s.Committed) < e.changes && s.Drawn&bit(int(s.Committed)) != 0 {
		c.Do("commit", who).Committed++
	}
}

// free rows are those that a poller can claim: committed, not published, not locked, and
// of no key that another claim holds.
func (e enrollment) freeRows(s *EnrollmentState) uint64 {
	rows := below(int(s.Committed)) &^ s.Marked
	for p := range s.Publishers {
		if s.Publishers[p].Locks {
			rows &^= e.ofKeys(s.Publishers[p].Claimed)
		}
	}
	return rows &^ e.ofKeys(s.Locked)
}

// claim locks rows, oldest id first. The mistake last-id asks for ids above the last
// one that it has seen.
func (e enrollment) claim(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if me.Claimed != 0 || me.Waits {
		return
	}
	rows := e.freeRows(s)
	if e.bug == lastID {
		rows = 0
		for i := range int(s.Committed) {
			if e.id(s, i) >= int(me.Next) {
				rows |= bit(i)
			}
		}
	}
	if rows == 0 {
		if e.free {
			c.Do("claim nothing", p)
		}
		return
	}
	you := &c.Do("claim", p).Publishers[p]
	you.Locks, you.Waits = true, e.free
	for range e.batch {
		if rows != 0 {
			oldest := e.oldest(s, rows)
			rows &^= bit(oldest)
			you.Claimed |= bit(oldest)
		}
	}
}

// mark marks the rows of a claim as published once every one is acknowledged, and ends
// the claim, if it still holds. The mistake mark-first does it before, and goes on.
func (e enrollment) mark(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	early := e.bug == markFirst && me.Claimed&^s.Marked != 0
	if me.Claimed == 0 || me.Claimed != me.Acked && !early || me.Waits {
		return
	}
	if me.Locks {
		n := c.Do("mark", p)
		n.mark(e, p, early)
		n.Publishers[p].Waits = e.free
	}
	if me.Locks && (e.free || s.Left.Lost > 0) {
		n := c.Fault("mark, answer lost", p)
		n.mark(e, p, early)
		e.lose(n)
	}
	if !me.Locks || e.free {
		c.Do("mark fails", p).Publishers[p].drop()
	}
}

// mark marks the rows of a publisher's claim. The mistake last-id moves its cursor on.
func (s *EnrollmentState) mark(e enrollment, p int, early bool) {
	you := &s.Publishers[p]
	s.Marked |= you.Claimed
	for rows := you.Claimed; e.bug == lastID && rows != 0; rows &= rows - 1 {
		you.Next = max(you.Next, uint8(e.id(s, bits.TrailingZeros64(rows)))+1)
	}
	if !early {
		you.drop()
	}
}

// drop forgets a claim, or what a stream handed out.
func (you *Publisher) drop() {
	*you = Publisher{
		Next: you.Next, Reached: you.Reached, Knows: you.Knows, Streams: you.Streams,
	}
}

// release gives up what is not acknowledged in time: a poller's claim, so that somebody
// claims the rows again, or a stream, which begins anew. The producer is given up, too.
func (e enrollment) release(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if me.Claimed != 0 && (e.free || me.Claimed != me.Acked && s.Left.Lost > 0) {
		n := c.Fault("release", p)
		n.leave(e, p)
		n.Publishers[p].drop()
		n.Publishers[p].Streams = false
		e.lose(n)
	}
}

// stream begins to read the slot, after what is confirmed or what this life knows to be
// acknowledged, once what was in flight is. Another's stream ends when its publisher was
// silent for too long.
func (e enrollment) stream(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if me.Waits || !e.free && (me.Streams || me.Claimed != 0) {
		return
	}
	for o := range s.Publishers {
		if !e.free && s.Publishers[o].Streams {
			return
		}
	}
	first := max(s.Confirmed, me.Knows)
	for next := s.Confirmed; next <= first; next++ {
		if next < first && !e.free { // acks may come, and nobody looks at them any more
			continue
		}
		n := c.Do("stream", p)
		for o := range n.Publishers {
			n.Publishers[o].Streams = false
		}
		n.Publishers[p] = Publisher{
			Next: next, Reached: next, Knows: min(next, me.Knows), Streams: true, Waits: e.free,
		}
	}
}

// handOut gives the next change in the order of commits, once the one before is sent.
func (e enrollment) handOut(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	unsent := me.Claimed &^ me.Sent
	if !me.Streams && !e.ended || me.Next >= s.Committed || me.Waits ||
		!e.free && (unsent != 0 || bits.OnesCount64(me.Claimed) >= e.batch) {
		return
	}
	you := &c.Do("next", p).Publishers[p]
	you.Claimed |= bit(int(me.Next))
	you.Next++
}

// keepalive is a position of the server behind all that it has handed out. With nothing
// in flight, all up to it is published.
func (e enrollment) keepalive(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if (me.Streams || e.ended) && me.Claimed == 0 && !me.Waits && (e.free || me.Knows != me.Next) {
		c.Do("keepalive", p).Publishers[p].Knows = me.Next
	}
}

// confirm tells the slot up to where everything is acknowledged. The mistake
// confirm-first confirms what was handed out.
func (e enrollment) confirm(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	if !me.Streams || me.Waits {
		return
	}
	upTo := me.Knows
	if e.bug == confirmFirst {
		upTo = me.Next
	}
	if upTo > s.Confirmed {
		c.Do("confirm", p).Confirmed = upTo
	}
}

// hear brings an answer of the database. But for histories a call and its answer are
// one step.
func (e enrollment) hear(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	if s.Publishers[p].Waits {
		c.Do("answered", p).Publishers[p].Waits = false
	}
}

// crash kills a publisher: its session ends, and with it its claim and its stream.
func (e enrollment) crash(c *check.Out[EnrollmentState], s *EnrollmentState, p int) {
	me := &s.Publishers[p]
	cursor := Publisher{}
	if e.bug == lastID { // the cursor is kept
		cursor.Next = me.Next
	}
	if e.free || s.Left.Crashes > 0 && *me != cursor {
		n := c.Fault("crash", p)
		n.leave(e, p)
		n.Publishers[p] = cursor
		if !e.free {
			n.Left.Crashes--
		}
	}
}

// server is the database server, which writes the slot to disk now and then, and goes
// back to that when it is killed. Claims and streams end, which a publisher notices with
// its next call. The transactions that roll back are none of those that have a number.
func (e enrollment) server(c *check.Out[EnrollmentState], s *EnrollmentState, who int) {
	if !e.free && s.Saved < s.Confirmed && s.Left.Servers > 0 {
		c.Do("checkpoint", who).Saved = s.Confirmed
	}
	down := func(confirmed uint8) {
		n := c.Fault("server crash", who)
		n.Confirmed, n.Locked = confirmed, 0
		for p := range n.Publishers {
			n.Publishers[p].Streams, n.Publishers[p].Locks = false, false
		}
		if !e.free {
			n.Left.Servers--
		}
	}
	switch {
	case e.free:
		for confirmed := range s.Confirmed + 1 {
			down(confirmed)
		}
	case s.Left.Servers > 0 && s.Drawn == below(int(s.Committed)):
		down(s.Saved)
	}
}

func (e enrollment) lose(n *EnrollmentState) {
	if !e.free {
		n.Left.Lost--
	}
}
