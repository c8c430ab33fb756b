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

// step is something that took effect: the answer that says so, and the event that
// asked for it. It took effect between the two; in simulation, at ask.
type step struct{ ask, answer *model.Event }

// puts returns the puts, conditional or not, that took effect, in the order in
// which they were called.
func puts(h *model.History) []step { return steps(h, model.Call, model.Return, "put", "putif") }

// commits returns the offset commits that a broker answered without an error, in
// the order in which they were asked for. Single partitions may have errors still.
func commits(h *model.History) []step {
	return steps(h, model.Request, model.Reply, "OffsetCommit")
}

// steps pairs answers with what they answer, since an answer may come late: that
// of a process that was paused is recorded when the process goes on, long after
// others saw what it did. An answer without an ask stands for both.
func steps(h *model.History, ask, answer model.Kind, ops ...string) []step {
	var all []step
	open := make(map[life][]*model.Event)
	events := h.Events()
	for i := range events {
		e := &events[i]
		if e.Kind != ask && e.Kind != answer || !slices.Contains(ops, e.Op) {
			continue
		}
		switch {
		case e.Kind == ask && e.Outcome != model.NotDone:
			open[lifeOf(e)] = append(open[lifeOf(e)], e)
		case e.Kind == answer && e.Err == "":
			all = append(all, step{ask: claim(open, e), answer: e})
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(a.ask.Seq, b.ask.Seq) })
	return all
}

// claim takes out what e answers: the last ask that says the same. An earlier one
// that says the same was refused, or its answer was never seen.
func claim(open map[life][]*model.Event, e *model.Event) *model.Event {
	asks := open[lifeOf(e)]
	for i := len(asks) - 1; i >= 0; i-- {
		if ask := asks[i]; sameAsk(ask, e) {
			open[lifeOf(e)] = slices.Delete(asks, i, i+1)
			return ask
		}
	}
	return e
}

func sameAsk(ask, answer *model.Event) bool {
	return ask.Op == answer.Op && ask.Key == answer.Key && ask.Digest == answer.Digest &&
		ask.Group == answer.Group && ask.Member == answer.Member &&
		ask.Generation == answer.Generation &&
		slices.EqualFunc(ask.Parts, answer.Parts, func(a, b model.Part) bool {
			return a.Topic == b.Topic && a.Partition == b.Partition && a.Offset == b.Offset
		})
}
