package model

import (
	"cmp"
	"slices"
)

// txnOffsets is what one transactional id did to groups' offsets, in no order: the
// answers of a transaction may come after those of the next.
type txnOffsets struct {
	offsets []txnOffset
	ends    []txnEnd // by took
	asked   []ending // by seq: ends that were asked for and not answered yet
}

// ending is an EndTxn on its way. A client that hears nothing asks again, and the
// second answer may come before the first: what counts is when it was asked first.
type ending struct {
	seq   int64
	epoch int16
}

type txnOffset struct {
	at     groupPartition
	offset int64
	took   int64
}

// txnEnd ends a transaction: by its EndTxn, or by the InitProducerID of a successor,
// which aborts what was left open.
type txnEnd struct {
	took   int64
	commit bool
}

// ending takes note of an EndTxn that was asked for, or that was refused.
func (v *View) ending(e *Event) {
	t := v.txn(e.TxnID)
	switch {
	case e.Kind == Request && e.Outcome != NotDone:
		t.asked = append(t.asked, ending{e.Seq, e.Epoch})
	case e.Kind == Reply:
		t.asked = slices.DeleteFunc(t.asked, func(a ending) bool { return a.seq == e.Of })
	}
}

// ended returns when the end that e answers was asked for first.
func (t *txnOffsets) ended(e *Event) int64 {
	took := e.Took()
	t.asked = slices.DeleteFunc(t.asked, func(a ending) bool {
		mine := a.epoch == e.Epoch && a.seq <= e.Took()
		if mine {
			took = min(took, a.seq)
		}
		return mine
	})
	return took
}

func (v *View) txn(id string) *txnOffsets {
	t := v.txns[id]
	if t == nil {
		t = new(txnOffsets)
		v.txns[id] = t
	}
	return t
}

// transaction folds in an answer that belongs to a transactional id. Offsets count
// when the first end after them is a commit.
func (v *View) transaction(e *Event) {
	t := v.txn(e.TxnID)
	switch e.Op {
	case "TxnOffsetCommit":
		for i := range e.Parts {
			if p := &e.Parts[i]; p.Err == "" {
				at := groupPartition{e.Group, p.Topic, p.Partition}
				t.offsets = append(t.offsets, txnOffset{at, p.Offset, e.Took()})
			}
		}
	case "EndTxn":
		t.end(txnEnd{t.ended(e), e.Note == "commit"})
	case "InitProducerID":
		t.end(txnEnd{e.Took(), false})
	default:
		return
	}
	for _, o := range t.offsets {
		if end := t.endOf(o); end.commit {
			v.commit(o.at, o.offset, end.took)
		}
	}
}

func (t *txnOffsets) end(end txnEnd) {
	at, _ := slices.BinarySearchFunc(t.ends, end, func(a, b txnEnd) int {
		return cmp.Compare(a.took, b.took)
	})
	t.ends = slices.Insert(t.ends, at, end)
}

// endOf returns the first end after o, as far as is known; the zero end for none.
func (t *txnOffsets) endOf(o txnOffset) txnEnd {
	for _, end := range t.ends {
		if end.took > o.took {
			return end
		}
	}
	return txnEnd{}
}
