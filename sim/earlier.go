package sim

import (
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// back is how many boundary events before a crash are tried as its place.
const back = 3

// earlierCrashes returns single crashes that kill the same lives a little earlier than
// the crashes of the history did. Often a crash needs another fault only because it
// stands at an event that the other fault brings about, when the moment is all that
// matters.
func earlierCrashes(h *model.History) []schedule.Fault {
	type life struct {
		proc   string
		number int
	}
	last := make(map[life][]model.Event)
	var out []schedule.Fault
	for _, e := range h.Events() {
		at := life{e.Proc, e.Life}
		switch {
		case e.Kind == model.Crash:
			before := last[at]
			for i := len(before) - 1; i >= max(0, len(before)-back); i-- {
				out = append(out, schedule.CrashAfter(schedule.PointOf(&before[i])))
			}
		case e.Kind.Boundary() && e.Outcome != model.NotDone:
			last[at] = append(last[at], e)
		}
	}
	return out
}
