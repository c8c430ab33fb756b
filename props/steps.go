package props

import (
	"cmp"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// life is one incarnation of a process.
type life struct {
	proc   string
	number int
}

func lifeOf(e *model.Event) life { return life{e.Proc, e.Life} }

// step is something that was asked for: the event that asks, and the answer to it.
// If it took effect, it did so between the two; in simulation, at ask.
type step struct{ ask, answer *model.Event }

// took reports whether the answer says that it took effect, whoever got to know.
// Single partitions may have errors still.
func (s step) took() bool { return s.answer != nil && s.answer.Err == "" }

// puts returns the puts, conditional or not, that took effect, in the order in
// which they were called.
func puts(h *model.History) []step { return steps(h, model.Call, model.Return, "put", "putif") }

// commits returns the offset commits that a broker answered without an error, in
// the order in which they were asked for.
func commits(h *model.History) []step {
	return steps(h, model.Request, model.Reply, "OffsetCommit")
}

// steps returns what took effect, in the order in which it was asked for.
func steps(h *model.History, ask, answer model.Kind, ops ...string) []step {
	return slices.DeleteFunc(exchanges(h, ask, answer, ops...), func(s step) bool {
		return !s.took()
	})
}

// exchanges pairs asks with their answers, in the order of the asks, since an answer
// may come late: that of a process that was paused is recorded when the process goes
// on, long after others saw what it did. An ask that never took effect is left out.
// One that nobody answered has no answer; an answer without an ask stands for both.
func exchanges(h *model.History, ask, answer model.Kind, ops ...string) []step {
	var all []step
	events := h.Events()
	for i := range events {
		e := &events[i]
		if e.Kind != ask && e.Kind != answer || !slices.Contains(ops, e.Op) {
			continue
		}
		if e.Kind == ask {
			if e.Outcome != model.NotDone {
				all = append(all, step{ask: e})
			}
			continue
		}
		if at := askOf(all, e); at >= 0 {
			all[at].answer = e
		} else {
			all = append(all, step{e, e})
		}
	}
	return all
}

// askOf returns the place of what e answers, -1 where it is not there. Histories
// that were written by hand may not say it: then it is the last ask that says the
// same, for an earlier one was refused, or its answer was never seen.
func askOf(all []step, e *model.Event) int {
	if e.Of != 0 {
		at, ok := slices.BinarySearchFunc(all, e.Of, func(s step, seq int64) int {
			return cmp.Compare(s.ask.Seq, seq)
		})
		if !ok {
			return -1
		}
		return at
	}
	for at := len(all) - 1; at >= 0; at-- {
		if s := all[at]; s.answer == nil && lifeOf(s.ask) == lifeOf(e) && sameAsk(s.ask, e) {
			return at
		}
	}
	return -1
}

func sameAsk(ask, answer *model.Event) bool {
	return ask.Op == answer.Op && ask.Key == answer.Key && ask.Digest == answer.Digest &&
		ask.Group == answer.Group && ask.Member == answer.Member &&
		ask.Generation == answer.Generation && ask.TxnID == answer.TxnID &&
		slices.EqualFunc(ask.Parts, answer.Parts, func(a, b model.Part) bool {
			return a.Topic == b.Topic && a.Partition == b.Partition && a.Offset == b.Offset
		})
}
