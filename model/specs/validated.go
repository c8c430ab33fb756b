package specs

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// MaxValidatedMembers is the most members that a ValidatedState has room for.
const MaxValidatedMembers = 2

// ValidatedState is one partition of the input, what becomes of it in the output, and
// who carries it over. All of it is small numbers, since this is the state by which the
// engine's speed is judged.
type ValidatedState struct {
	Output uint8 // inputs below it are committed in the output, but for rejects
	Commit uint8 // the group's offset
	Owner  uint8 // who owns the partition, as the group sees it: number plus 1; 0: nobody
	Harm   harm  // what has happened that must not

	Ids     [MaxValidatedMembers]ValidatedID
	Members [MaxValidatedMembers]ValidatedMember

	Left ValidatedFaults
}

// ValidatedFaults is how many faults may still happen.
type ValidatedFaults struct{ Crashes, Moves, Timeouts, Lost uint8 }

// ValidatedID is what brokers know of a transactional id.
type ValidatedID struct {
	Phase    phase
	Facts    facts
	From, To uint8 // the outputs in the open transaction are those of inputs in [From, To)
	Pending  uint8 // the offset that the group has pending; 0: none
}

// phase is what the coordinator has of a transaction.
type phase uint8

const (
	idle phase = iota
	ongoing
	committing // decided, and its markers are on their way
	aborting
)

// facts are what is so of a transactional id.
type facts uint8

const (
	outputIn facts = 1 << iota // the output is part of the transaction, and gets its marker
	groupIn                    // so are the group's offsets
	late                       // an append of an aborted transaction is still on its way
	foreign                    // it has arrived, and is open in the output
)

// ValidatedMember is what a member has in hand.
type ValidatedMember struct {
	Stage            stage
	Epoch            epoch
	From, Sent, Next uint8 // its batch is [From, Next), of which [From, Sent) was sent
	Waits            waits
	Has              bool // it believes that it owns the partition
}

// stage is where in its loop a member is.
type stage uint8

const (
	down    stage = iota // it does not run, or has nothing yet
	ready                // its position is Next
	working              // a batch is in hand
	offered              // the transaction has its offsets
	ending               // it has asked for the commit
	failed               // the transaction must be aborted, or found to be over
	asking               // its position must be asked for
)

// epoch is a producer's, beside the one that the coordinator has.
type epoch uint8

const (
	none epoch = iota
	current
	stale
)

// waits is what a member waits for.
type waits uint8

const (
	forNobody waits = iota
	forAnswer
	inVain    // and the answer will not come
	underWay  // nor has the request arrived, and it may do so late
	forReplay // a mistake: for the end of the transaction, to try its batch again
	hasAsked  // for that end, and it knows its position already
)

// harm is a broken promise that no later state shows.
type harm uint8

const (
	noHarm harm = iota
	twiceVisible
	outOfOrder
	abortedVisible
	backward
	fought
)

// validated is the specification of hop 4, for one partition of its input.
type validated struct {
	records, members int
	rejects          uint64
	kip890           bool // the transaction protocol of Kafka 4: an epoch for each transaction
	late             bool // a produce that nobody answered may still arrive
	shared           bool // members have one transactional id
	faults           ValidatedFaults
	bug              string
	// free lets faults happen without end, and adds the steps that change nothing:
	// for comparison with histories.
	free bool
}

// Validated returns the specification of hop 4 with the parameters in set, and the
// defaults of the rest; an error says what is wrong with set.
func Validated(set map[string]int) (check.Spec[ValidatedState], error) {
	v, _, err := entries["validated"].values(set, "")
	if err != nil {
		return check.Spec[ValidatedState]{}, err
	}
	return newValidated(v, "").spec(), nil
}

func newValidated(v Values, bug string) validated {
	d := validated{
		records: v["records"], members: v["members"], bug: bug,
		kip890: v["kip890"] == 1, late: v["late"] == 1, shared: bug == sharedID,
		faults: ValidatedFaults{
			uint8(v["crashes"]), uint8(v["moves"]), uint8(v["timeouts"]), uint8(v["lost"]),
		},
	}
	for i := range v["rejects"] {
		if o := 2*i + 1; o < d.records {
			d.rejects |= bit(o)
		}
	}
	return d
}

func (d validated) spec() check.Spec[ValidatedState] {
	name := "validated"
	if d.bug != "" {
		name += " " + d.bug
	}
	return check.Spec[ValidatedState]{
		Name: name, Init: []ValidatedState{{Left: d.faults}},
		Next: d.next, Always: d.kept, Quiescent: d.drained,
	}
}

// accepted are the inputs in [from, to) that the contract accepts.
func (d *validated) accepted(from, to uint8) uint64 {
	return below(int(to)) &^ below(int(from)) &^ d.rejects
}

// id returns the number of a member's transactional id.
func (d *validated) id(m int) int {
	if d.shared {
		return 0
	}
	return m
}

// next is one step of anybody. A member takes its own in order: it asks for its position,
// polls, gets a producer epoch if it has none yet, produces what the contract accepts,
// adds the next offset to the transaction and commits that. Whatever goes wrong, it
// aborts and asks for its position.
func (d *validated) next(c *check.Out[ValidatedState], s *ValidatedState) {
	for m := range d.members {
		d.init(c, s, m)
		d.group(c, s, m)
		d.poll(c, s, m)
		d.produce(c, s, m)
		d.offer(c, s, m)
		d.commit(c, s, m)
		d.hear(c, s, m)
		d.abort(c, s, m)
		d.faulty(c, s, m)
	}
	for i := range d.members {
		d.coordinate(c, s, i)
	}
}

// kept: an accepted input is visible at read_committed at most once and in order, and
// nothing of an aborted transaction is; the group's offset is never beyond the output
// that is committed, and never moves backwards; nobody is fenced by another live member.
func (d *validated) kept(s *ValidatedState) error {
	if s.Harm != noHarm {
		return harms[s.Harm]
	}
	if s.Commit > s.Output {
		if lost := d.accepted(s.Output, s.Commit); lost != 0 {
			return fmt.Errorf("offset %d is below the group's offset %d, and not in the output",
				bits.TrailingZeros64(lost), s.Commit)
		}
	}
	return nil
}

var harms = [...]error{
	twiceVisible:   errors.New("an input is visible twice at read_committed"),
	outOfOrder:     errors.New("an input is visible before one that comes earlier"),
	abortedVisible: errors.New("the output of an aborted transaction is visible at read_committed"),
	backward:       errors.New("the group's offset has moved backwards"),
	fought:         errors.New("a member that does its work is fenced by another one"),
}

// drained: when all is quiet, every input is committed and every accepted one visible,
// and no open transaction holds back the last stable offset.
func (d *validated) drained(s *ValidatedState) error {
	for i := range s.Ids {
		if id := &s.Ids[i]; id.To > 0 || id.Facts&foreign != 0 {
			return errors.New("a transaction is open in the output, and nobody will end it: " +
				"the last stable offset stays where it is")
		}
	}
	switch lost := d.accepted(s.Output, uint8(d.records)); {
	case int(s.Commit) < d.records:
		return fmt.Errorf("the group's offset stays at %d of %d", s.Commit, d.records)
	case lost != 0:
		return fmt.Errorf("offset %d never becomes visible", bits.TrailingZeros64(lost))
	}
	return nil
}
