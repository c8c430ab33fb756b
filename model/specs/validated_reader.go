package specs

import (
	"math/bits"

	"github.com/hopcheck/hopcheck/model"
)

// validatedReader reads one partition out of a history.
type validatedReader struct {
	h         *model.History
	at        Topology
	partition int32
	of        string
	by        []*model.Event // answers, by the Seq of what they answer
	audit     *model.Audited

	spec    validated
	ids     [MaxValidatedMembers]string // transactional ids
	fetched [MaxValidatedMembers]uint8  // offsets below it were fetched in this life
	alive   [MaxValidatedMembers]bool   // it has started, and not ended
	begun   [MaxValidatedMembers]bool   // it has a transaction to commit
	heard   map[int64]bool              // requests whose answer has come, by Seq
	ends    map[int64]uint8             // where the batch ends, by Seq of a Produce
	doomed  map[int64]bool              // Produces whose transaction gets no offset, by Seq
	idle    map[int64]bool              // OffsetFetches of which nothing comes, by Seq
	seen    []observation[ValidatedState]
	fault   error
}

// log finds out what the partition holds.
func (r *validatedReader) log() error {
	r.spec = validated{kip890: true, free: true}
	var err error
	r.spec.records, r.spec.rejects, err = partitionOf(r.audit, r.at.Topic, r.partition)
	return err
}

// lookAhead finds out what an event does not say by itself: where the batch ends that a
// Produce is of, by the TxnOffsetCommit that comes later, and whether a member that asks
// for the position goes on from there. It also asks for partitions that it had before.
func (r *validatedReader) lookAhead() {
	r.ends = make(map[int64]uint8)
	r.doomed, r.idle = make(map[int64]bool), make(map[int64]bool)
	r.heard = make(map[int64]bool)
	var end [MaxValidatedMembers]uint8
	var used, offset [MaxValidatedMembers]bool
	events := r.h.Events()
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		m := r.member(e)
		if m < 0 {
			continue
		}
		r.spec.members = max(r.spec.members, m+1)
		if e.TxnID != "" {
			r.ids[m] = e.TxnID
		}
		if e.Kind == model.Crash || e.Kind == model.Exit {
			end[m], used[m], offset[m] = 0, false, false
		}
		if e.Kind != model.Request {
			continue
		}
		switch e.Op {
		case "EndTxn", "InitProducerID":
			end[m], offset[m] = 0, false
		case "TxnOffsetCommit":
			if p := r.part(e); p != nil {
				end[m], used[m], offset[m] = max(end[m], uint8(p.Offset)), true, true
			}
		case "Produce":
			if _, inputs := r.outputs(e); inputs != 0 {
				end[m], used[m] = max(end[m], after(inputs)), true
				r.ends[e.Seq], r.doomed[e.Seq] = end[m], !offset[m]
			}
		case "Fetch":
			used[m] = used[m] || r.part(e) != nil
		case "OffsetFetch":
			if _, ok := r.told(e); ok {
				r.idle[e.Seq], used[m] = !used[m], false
			}
		}
	}
}

// told returns the position that an OffsetFetch was answered, if its process got to see
// one.
func (r *validatedReader) told(e *model.Event) (offset uint8, ok bool) {
	x := r.ask(e)
	p := r.part(x.answer)
	if !x.heard() || p == nil || p.Err != "" || x.answer.Err != "" {
		return 0, false
	}
	return uint8(max(0, p.Offset)), true
}

// member returns the number of the member that an event is of; -1 for others.
func (r *validatedReader) member(e *model.Event) int {
	n, err := r.at.replica(e, "members", MaxValidatedMembers)
	if err != nil {
		r.fault = err
	}
	return n
}

// ask returns what e asks for, with its answer. It is not meant for answers.
func (r *validatedReader) ask(e *model.Event) exchange { return exchange{e, r.by[e.Seq]} }

// part returns what an event says of the partition, nil for nothing.
func (r *validatedReader) part(e *model.Event) *model.Part {
	if e == nil {
		return nil
	}
	for i := range e.Parts {
		if p := &e.Parts[i]; p.Topic == r.at.Topic && p.Partition == r.partition {
			return p
		}
	}
	return nil
}

// outputs returns the part of a Produce that is about the partition, and whose outputs
// it holds.
func (r *validatedReader) outputs(e *model.Event) (part *model.Part, inputs uint64) {
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Topic != r.at.Out {
			continue
		}
		for j := range p.Records {
			from := p.Records[j].From
			if from.Topic == r.at.Topic && from.Partition == r.partition {
				part = p
				inputs |= bit(int(from.Offset))
			}
		}
	}
	return part, inputs
}

// outputsOf is outputs of an event that may be missing.
func (r *validatedReader) outputsOf(e *model.Event) (*model.Part, uint64) {
	if e == nil {
		return nil, 0
	}
	return r.outputs(e)
}

// after returns the offset after the last one in a set.
func after(set uint64) uint8 { return uint8(bits.Len64(set)) }
