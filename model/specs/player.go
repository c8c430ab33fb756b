package specs

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// PlayerState is one life of a player and the partitions that it writes to. What it
// hands to its client are attempts, numbered in their order; several may be for one
// event. Sets of attempts and of events are bit masks.
type PlayerState struct {
	Sent    uint8  // attempts so far, but for those that Base leaves out
	Cut     uint8  // the first attempt of the producer's present epoch
	Events  uint64 // what each attempt is for, 4 bits each; not for comparison with histories
	Mine    uint64 // attempts for asks that are not answered yet
	Minted  uint64 // attempts with an id of their own
	Written uint64 // attempts that left in a request, and may be in the log
	Flying  uint64 // attempts of which a good answer is under way
	Known   uint64 // attempts of which it has come
	Acked   uint64 // attempts whose promise is resolved: done
	Failed  uint64 // attempts whose promise is resolved: an error
	Denied  uint64 // attempts of which the application was told: not done

	Appended uint64 // attempts that are in the log
	Twice    bool   // one of them twice

	Open uint64 // events that were asked for and not answered yet
	Done uint64 // events of which the application was told: done

	// Of a long history the oldest attempts are left out once they are done with: so
	// many, and so many of them with a sequence number in each partition. Over says
	// that the life is over.
	Base uint16
	Gone [maxLanes]uint8
	Over bool

	Left PlayerFaults
}

// PlayerFaults is how many faults may still happen.
type PlayerFaults struct{ Crashes, Lost, Timeouts, Refusals uint8 }

// mostAttempts is the most attempts of one life that Events has room for.
const mostAttempts = 16

// maxLanes is the most partitions that a PlayerState has room for.
const maxLanes = 4

// player is the specification of hop 1, for one process.
type player struct {
	events int
	faults PlayerFaults
	bug    string
	// attempts are what a history tells of the attempts; without any, all are of one
	// partition.
	attempts []playerAttempt
	// free lets faults happen without end, and adds the steps that change nothing:
	// for comparison with histories.
	free bool
}

func newPlayer(v Values, bug string) player {
	return player{
		events: v["events"], bug: bug,
		faults: PlayerFaults{
			uint8(v["crashes"]), uint8(v["lost"]), uint8(v["timeouts"]), uint8(v["refusals"]),
		},
	}
}

func (p player) spec() check.Spec[PlayerState] {
	name := "player"
	if p.bug != "" {
		name += " " + p.bug
	}
	return check.Spec[PlayerState]{
		Name: name, Init: []PlayerState{{Left: p.faults}},
		Next: p.next, Always: p.kept, Quiescent: p.answered,
	}
}

func (p player) next(c *check.Out[PlayerState], s *PlayerState) {
	for e := range p.events {
		p.ask(c, s, e)
		p.send(c, s, e)
		p.tell(c, s, e)
	}
	for i := int(s.Base); i < int(s.Base)+int(s.Sent); i++ {
		p.write(c, s, i)
		p.hear(c, s, i)
		p.fail(c, s, i)
	}
	p.crash(c, s, 0)
}

// crash kills the player. Its next life has another producer id: what is in the log
// already are copies of earlier sends, and what was not answered is asked again.
func (p player) crash(c *check.Out[PlayerState], s *PlayerState, _ int) {
	switch {
	case p.free:
		n := c.Fault("crash", 0)
		n.Over, n.Flying, n.Known, n.Open = true, 0, 0, 0
	case s.Left.Crashes > 0 && p.room(s):
		n := c.Fault("crash", 0)
		*n = PlayerState{Done: s.Done, Left: s.Left}
		n.Left.Crashes--
	}
}

// room says that there are attempts left to ask for everything again.
func (p player) room(s *PlayerState) bool {
	return p.free || int(s.Sent)+p.events < mostAttempts
}

// event returns what attempt i is for.
func (p player) event(s *PlayerState, i int) int {
	if p.attempts != nil {
		return p.attempts[int(s.Base)+i].event
	}
	return int(s.Events >> (4 * i) & 15)
}

// forEvent returns the attempts of an ask for event e that is not answered yet.
func (p player) forEvent(s *PlayerState, e int) uint64 {
	var mine uint64
	for set := s.Mine; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); p.event(s, i) == e {
			mine |= bit(i)
		}
	}
	return mine
}

// lane returns the attempts of the same partition as attempt i, and how many of it were
// left out.
func (p player) lane(s *PlayerState, i int) (lane uint64, gone int) {
	if p.attempts == nil {
		return ^uint64(0), 0
	}
	all := p.attempts[s.Base:]
	for j := range min(int(s.Sent), len(all)) {
		if all[j].partition == all[i].partition {
			lane |= bit(j)
		}
	}
	if all[i].partition < 0 {
		return lane, 0
	}
	return lane, int(s.Gone[all[i].partition])
}

// slide leaves out the oldest attempts once they are done with.
func (p player) slide(s *PlayerState) {
	for s.Sent > 0 && (s.Mine|s.unresolved()|s.Flying)&1 == 0 {
		if at := p.attempts[s.Base].partition; at >= 0 && (s.Failed&^s.Written)&1 == 0 {
			s.Gone[at]++
		}
		s.Base, s.Sent = s.Base+1, s.Sent-1
		for _, set := range []*uint64{
			&s.Mine, &s.Written, &s.Flying, &s.Known, &s.Acked, &s.Failed, &s.Denied, &s.Appended,
		} {
			*set >>= 1
		}
	}
}

// unresolved are the attempts whose promise is open.
func (s *PlayerState) unresolved() uint64 {
	return below(int(s.Sent)) &^ (s.Acked | s.Failed)
}

// ask is the application: it asks for each event until it is told that it is done.
func (p player) ask(c *check.Out[PlayerState], s *PlayerState, e int) {
	if s.Open&bit(e) == 0 && (p.free || s.Done&bit(e) == 0 && s.Sent < mostAttempts-1) {
		n := c.Do("ask", e)
		n.Open |= bit(e)
	}
}

// send hands an event to the client: when it is asked for, and again when an attempt
// has failed. Every attempt carries the event's one id; the mistake new-id mints
// another one for an event that was sent before.
func (p player) send(c *check.Out[PlayerState], s *PlayerState, e int) {
	if s.Open&bit(e) == 0 || p.forEvent(s, e)&^s.Failed != 0 || s.Sent == maxOffsets {
		return
	}
	i := int(s.Sent)
	n := c.Do("send", e)
	n.Sent, n.Mine = s.Sent+1, s.Mine|bit(i)
	if p.free {
		return
	}
	n.Events |= uint64(e) << (4 * i)
	for j := range i {
		if p.bug == newID && p.event(s, j) == e {
			n.Minted |= bit(i)
		}
	}
}

// numbers returns the sequence number of attempt i in its partition and epoch, and the
// one that the broker expects there. An attempt that failed before it was written has
// none. With the mistake cancelled-sequence, nor has one that was cancelled later.
func (p player) numbers(s *PlayerState, i int) (sequence, expected int) {
	skipped := s.Failed &^ s.Written
	if p.bug == cancelledSequence {
		skipped = s.Failed
	}
	epoch, gone := p.lane(s, i)
	if i >= int(s.Cut) {
		epoch &^= below(int(s.Cut))
	} else {
		epoch &= below(int(s.Cut))
	}
	return gone + bits.OnesCount64(epoch&below(i)&^skipped),
		gone + bits.OnesCount64(s.Appended&epoch)
}

// write sends an attempt to the broker: those of one partition in their order, and
// again when no answer came. Requests that never left are in no history, so that later
// ones may seem to come first. The broker takes an attempt if it is the next in its
// order, or a duplicate, which is answered as the first time was.
func (p player) write(c *check.Out[PlayerState], s *PlayerState, who int) {
	i := who - int(s.Base)
	open := s.unresolved()
	if !p.free {
		// A client that hears of a later record first forgets that, and writes both
		// again, as histories show.
		open &^= s.Flying
	}
	if i < 0 || open&bit(i) == 0 || !p.free && s.unresolved()&^s.Written&below(i) != 0 {
		return
	}
	if sequence, expected := p.numbers(s, i); p.bug == notIdempotent || sequence <= expected {
		n := c.Do("write", who)
		p.append(n, i)
		n.Flying |= bit(i)
		if p.free || s.Left.Lost > 0 {
			n = c.Fault("write, answer lost", who)
			p.append(n, i)
			p.lose(n)
		}
	}
	if p.free || s.Left.Lost > 0 && s.Written&bit(i) == 0 {
		n := c.Fault("write fails", who)
		n.Written |= bit(i)
		p.lose(n)
	}
	if !p.free && p.room(s) && s.Left.Refusals > 0 && s.Appended&bit(i) == 0 {
		p.refuse(c.Fault("refuse", who), i)
	}
}

// append is what the broker does with attempt i when it takes it. With the mistake
// not-idempotent it has no numbers to tell a duplicate by.
func (p player) append(n *PlayerState, i int) {
	n.Written |= bit(i)
	sequence, expected := p.numbers(n, i)
	switch {
	case p.bug == notIdempotent:
		n.Twice = n.Twice || n.Appended&bit(i) != 0
		n.Appended |= bit(i)
	case sequence == expected:
		n.Appended |= bit(i)
	}
}

// refuse is a broker that refuses a record for good. Nothing after it in its epoch can
// have been appended, so the client begins a new epoch and numbers the rest again.
func (p player) refuse(n *PlayerState, i int) {
	n.Failed |= bit(i)
	n.Written &= below(i) | n.Appended
	n.Cut = max(n.Cut, uint8(i)+1)
	n.Left.Refusals--
}

// hear brings the answer for an attempt, and resolves its promise by it.
func (p player) hear(c *check.Out[PlayerState], s *PlayerState, who int) {
	i := who - int(s.Base)
	if i < 0 {
		return
	}
	if s.Flying&bit(i) != 0 {
		n := c.Do("answer", who)
		n.Flying &^= bit(i)
		if p.free {
			n.Known |= bit(i) &^ s.Acked
		} else {
			n.Acked |= bit(i)
		}
	}
	if s.Known&bit(i) != 0 {
		n := c.Do("ack", who)
		n.Known &^= bit(i)
		n.Acked |= bit(i)
	}
}

// fail resolves the promise of an attempt with an error: of one that was never written,
// when its time is over. The mistake cancelled-sequence does it with those that were.
func (p player) fail(c *check.Out[PlayerState], s *PlayerState, who int) {
	i := who - int(s.Base)
	open := s.unresolved() &^ (s.Flying | s.Known)
	if p.bug != cancelledSequence {
		open &^= s.Written
	}
	if i < 0 || open&bit(i) == 0 || !p.room(s) || !p.free && s.Left.Timeouts == 0 {
		return
	}
	n := c.Fault("time out", who)
	n.Failed |= bit(i)
	p.giveUp(n)
}

// tell answers the application. Not done is what is known not to be in the log: all
// attempts failed before they were written, or were refused. Whoever has waited long
// enough is told unknown. The mistake error-is-failure says not done then.
func (p player) tell(c *check.Out[PlayerState], s *PlayerState, e int) {
	if s.Open&bit(e) == 0 {
		return
	}
	mine := p.forEvent(s, e)
	answer := func(n *PlayerState) {
		n.Open &^= bit(e)
		n.Mine &^= mine
	}
	switch {
	case mine&s.Acked != 0:
		n := c.Do("tell done", e)
		answer(n)
		n.Done |= bit(e)
	case mine&^s.Failed == 0 && mine&s.Written == 0 && (mine != 0 || p.free):
		n := c.Do("tell not done", e)
		answer(n)
		n.Denied |= mine
	}
	if mine != 0 && (p.free || mine&s.Acked == 0 && s.Left.Timeouts > 0 && p.room(s)) {
		n := c.Fault("tell unknown", e)
		if p.bug == errorIsFailure {
			n = c.Fault("tell not done", e)
			n.Denied |= mine
		}
		answer(n)
		p.giveUp(n)
	}
}

func (p player) lose(n *PlayerState) {
	if !p.free {
		n.Left.Lost--
	}
}

func (p player) giveUp(n *PlayerState) {
	if !p.free {
		n.Left.Timeouts--
	}
}

// kept: every acked attempt is in the log; none is there twice; every copy of an event
// carries its one id; what was told not done is not in the log.
func (p player) kept(s *PlayerState) error {
	if lost := s.Acked &^ s.Appended; lost != 0 {
		return fmt.Errorf("attempt %d was acknowledged, and is not in the log",
			bits.TrailingZeros64(lost))
	}
	if s.Twice {
		return errors.New("an attempt is in the log twice")
	}
	for set := s.Appended & s.Minted; set != 0; set &= set - 1 {
		e := p.event(s, bits.TrailingZeros64(set))
		for first := s.Appended &^ s.Minted; first != 0; first &= first - 1 {
			if p.event(s, bits.TrailingZeros64(first)) == e {
				return fmt.Errorf("event %d is in the log under two ids", e)
			}
		}
	}
	if lied := s.Appended & s.Denied; lied != 0 {
		return fmt.Errorf("attempt %d is in the log, and the application was told not done",
			bits.TrailingZeros64(lied))
	}
	return nil
}

// answered: when all is quiet, the application was told of every event that it is done.
func (p player) answered(s *PlayerState) error {
	if open := below(p.events) &^ s.Done; open != 0 {
		return fmt.Errorf("the application is never told that event %d is done",
			bits.TrailingZeros64(open))
	}
	return nil
}
