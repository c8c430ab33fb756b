package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// What of a failure is shown: a screenful.
const (
	shownWitnesses = 3
	shownSchedule  = 10 // lines
	shownEvents    = 16
	shownHistory   = 22 // lines, those that stand for what is left out too
	shownColumns   = 118
)

// Message says a failure in a screenful: the promise, the witnesses, the shrunk
// schedule, the part of the history that shows it, how often it came again, and
// the command that replays it.
func (f *Failure) Message(replay string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "broken: %s: %s\n", f.Promise, f.Says)
	writeWitnesses(&b, f.Broken)
	drawn := ""
	if f.Nth > 0 {
		drawn = fmt.Sprintf("; drawn with %d, as number %d", len(f.Found.Faults), f.Nth)
	}
	fmt.Fprintf(&b, "\nschedule (%s%s):\n", count(len(f.Schedule.Faults), "fault"), drawn)
	writeSchedule(&b, f.Schedule)
	b.WriteString("\nhistory (> marks the witnesses):\n")
	writeExcerpt(&b, f.Result.History, f.Broken)
	fmt.Fprintf(&b, "\nreplayed %s: broken again %d/%d, the same history %d/%d\n",
		count(f.Replays, "time"), f.Agreed, f.Replays, f.Same, f.Replays)
	fmt.Fprintf(&b, "replay: %s\n", replay)
	return b.String()
}

func writeWitnesses(b *strings.Builder, broken []props.Broken) {
	for i, w := range broken {
		if i == shownWitnesses {
			fmt.Fprintf(b, "  ... and %d more\n", len(broken)-i)
			return
		}
		fmt.Fprintf(b, "  %s\n", w.Witness)
	}
}

func writeSchedule(b *strings.Builder, s schedule.Schedule) {
	lines := strings.Split(strings.TrimSpace(s.String()), "\n")
	for i, line := range lines {
		if i == shownSchedule-1 && len(lines) > shownSchedule {
			fmt.Fprintf(b, "    ... and %d more\n", len(lines)-i)
			return
		}
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// writeExcerpt writes the part of the history that shows what is broken: the
// faults, the witnesses, and what went just before them.
func writeExcerpt(b *strings.Builder, h *model.History, broken []props.Broken) {
	witness := make(map[int64]bool)
	for _, w := range broken[:min(len(broken), shownWitnesses)] {
		for _, seq := range w.Seqs {
			witness[seq] = true
		}
	}
	shown := excerpt(h.Events(), witness)
	last := int64(0)
	for _, e := range shown {
		if last > 0 && e.Seq > last+1 {
			b.WriteString("    ...\n")
		}
		last = e.Seq
		mark := " "
		if witness[e.Seq] {
			mark = ">"
		}
		line := string(model.AppendText(nil, e))
		if r := []rune(line); len(r) > shownColumns {
			line = string(r[:shownColumns-3]) + "..."
		}
		fmt.Fprintf(b, "  %s %s\n", mark, line)
	}
}

// excerpt picks the events worth a line: witnesses first, then what went wrong,
// then the steps before either, until the room is full.
func excerpt(events []model.Event, witness map[int64]bool) []*model.Event {
	picked := make(map[int64]bool)
	lines := 0 // at most: an event is a line, and where one begins anew, so is the gap
	pick := func(e *model.Event) {
		if picked[e.Seq] || len(picked) == shownEvents {
			return
		}
		more := 2
		if picked[e.Seq-1] || picked[e.Seq+1] {
			more = 1
		}
		if lines+more <= shownHistory+1 { // the first gap is not shown
			picked[e.Seq] = true
			lines += more
		}
	}
	for i := range events {
		if witness[events[i].Seq] {
			pick(&events[i])
		}
	}
	for i := range events {
		switch events[i].Kind {
		case model.Crash, model.Fault, model.Pause, model.Resume, model.Stop, model.Exit,
			model.Alert:
			pick(&events[i])
		}
	}
	for _, back := range []int{1, 2, 3} {
		for i := range events {
			if worth := picked[events[i].Seq]; worth && events[i].Kind != model.Observe {
				if i >= back && events[i-back].Kind.Boundary() {
					pick(&events[i-back])
				}
			}
		}
	}
	var out []*model.Event
	for i := range events {
		if picked[events[i].Seq] {
			out = append(out, &events[i])
		}
	}
	slices.SortFunc(out, func(a, b *model.Event) int { return int(a.Seq - b.Seq) })
	return out
}

// count says a number of things in English.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
