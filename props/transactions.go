package props

import (
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// transaction is one that committed: what was asked for in it, in that order, and
// the end that committed it.
type transaction struct {
	producer
	produces []step
	offsets  []step // TxnOffsetCommit
	end      step
}

// producer is who may write under one epoch of a transactional id.
type producer struct {
	life
	id    string
	by    int64
	epoch int16
}

func producerOf(e *model.Event) producer {
	return producer{lifeOf(e), e.TxnID, e.Producer, e.Epoch}
}

// transactions returns the transactions that committed, in the order in which their
// ends were asked for. An abort that was asked for ends one too, whatever came of
// it, as does a new epoch for its id: who asked for it has given it up. So does not
// the commit of an end that was refused or that nobody answered: it may be asked
// for again.
func transactions(h *model.History) []transaction {
	var all []transaction
	open := make(map[producer]*transaction)
	steps := exchanges(h, model.Request, model.Reply,
		"Produce", "TxnOffsetCommit", "EndTxn", "InitProducerID")
	for _, s := range steps {
		if s.ask.TxnID == "" {
			continue
		}
		by := producerOf(s.ask)
		t := open[by]
		if t == nil {
			t = &transaction{producer: by}
		}
		switch s.ask.Op {
		case "Produce":
			t.produces = append(t.produces, s)
			open[by] = t
		case "TxnOffsetCommit":
			t.offsets = append(t.offsets, s)
			open[by] = t
		case "EndTxn":
			if s.ask.Note == "commit" && !s.took() {
				continue
			}
			delete(open, by)
			if s.ask.Note == "commit" {
				t.end = s
				all = append(all, *t)
			}
		case "InitProducerID":
			if s.took() {
				for p := range open {
					if p.id == s.ask.TxnID {
						delete(open, p)
					}
				}
			}
		}
	}
	return all
}

// opened knows, event by event, the requests that opened the transactions that a
// life has not ended yet.
type opened map[life][]*model.Event

// take takes in the next event of the history.
func (o opened) take(e *model.Event) {
	if e.TxnID == "" {
		return
	}
	of := lifeOf(e)
	at := slices.IndexFunc(o[of], func(first *model.Event) bool { return first.TxnID == e.TxnID })
	switch {
	case e.Kind == model.Request && at < 0:
		switch e.Op {
		case "AddPartitionsToTxn", "AddOffsetsToTxn", "Produce", "TxnOffsetCommit":
			o[of] = append(o[of], e)
		}
	case e.Kind == model.Reply && at >= 0:
		if e.Op == "EndTxn" || e.Op == "InitProducerID" && e.Err == "" {
			o[of] = slices.Delete(o[of], at, at+1)
		}
	}
}

// anyError returns the first of the errors that an answer gives, to all of what was
// asked or to one partition; "" where it gives none of them.
func anyError(e *model.Event, errs ...string) string {
	if slices.Contains(errs, e.Err) {
		return e.Err
	}
	for i := range e.Parts {
		if slices.Contains(errs, e.Parts[i].Err) {
			return e.Parts[i].Err
		}
	}
	return ""
}

// fence returns the error by which an answer says that somebody else has taken
// over the identity of who asked; "" where it does not say so. A producer without a
// transactional id has none that could be taken over.
func fence(e *model.Event) string {
	if e.Kind != model.Reply {
		return ""
	}
	if e.TxnID == "" {
		return anyError(e, "FENCED_INSTANCE_ID")
	}
	return anyError(e, "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "FENCED_INSTANCE_ID")
}
