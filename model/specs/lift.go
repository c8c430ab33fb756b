package specs

import (
	"fmt"
	"maps"
	"slices"
)

// lifted is a counterexample as lines of a schedule.
type lifted struct {
	// faults are its fault steps, in their order; none where it needs none.
	faults []string
	// end is a crash just after its last boundary event. A state that breaks a promise
	// may pass, as that of a commit ahead of its put does; with a crash it stays.
	end string
}

// long is how long a fault lasts that the other side gives up on.
const long = "50s"

// lifting turns the steps of a counterexample into faults. It counts boundary events as
// a history does, by process, life, kind and operation. A specification has fewer
// records than a world, and leaves out what clients do by themselves, so that a world's
// numbers may be higher.
type lifting struct {
	lives  map[string]int // those that are over
	counts map[place]int
	last   map[string]string   // of each process in its present life: "call put 2"
	next   map[string][]string // verbs for the next event of a process, with what follows it
	lifted
}

// place is a sort of boundary event in one life.
type place struct {
	proc     string
	life     int
	kind, op string
}

func newLifting() *lifting {
	return &lifting{
		lives: make(map[string]int), counts: make(map[place]int),
		last: make(map[string]string), next: make(map[string][]string),
	}
}

// owner returns the process in its present life as a schedule writes it.
func (l *lifting) owner(proc string) string {
	return fmt.Sprintf("%s life %d", proc, l.lives[proc]+1)
}

// upcoming returns the next event of its sort, which the trace has not come to.
func (l *lifting) upcoming(proc, kind, op string) string {
	at := place{proc, l.lives[proc], kind, op}
	return fmt.Sprintf("%s %s %d", kind, op, l.counts[at]+1)
}

// event is a step that is a boundary event.
func (l *lifting) event(proc, kind, op string) {
	at := l.upcoming(proc, kind, op)
	l.counts[place{proc, l.lives[proc], kind, op}]++
	l.due(proc, at)
	l.last[proc] = at
	l.end = fmt.Sprintf("crash %s after %s", l.owner(proc), at)
}

// due has happen at an event what was to happen at the next one.
func (l *lifting) due(proc, at string) {
	for i := 0; i+1 < len(l.next[proc]); i += 2 {
		l.fault(l.next[proc][i], proc, "at "+at, l.next[proc][i+1])
	}
	delete(l.next, proc)
}

// finish returns the faults. What was to happen at an event that never came happens at
// the last one that did.
func (l *lifting) finish() lifted {
	for _, proc := range slices.Sorted(maps.Keys(l.next)) {
		if l.last[proc] != "" {
			l.due(proc, l.last[proc])
		}
	}
	return l.lifted
}

// fault adds a line. Words that are empty are left out.
func (l *lifting) fault(verb, proc, at, rest string) {
	line := fmt.Sprintf("%s %s %s", verb, l.owner(proc), at)
	if rest != "" {
		line += " " + rest
	}
	l.faults = append(l.faults, line)
}

// crash kills a process just after what it did last, or before it does anything.
func (l *lifting) crash(proc string) {
	at := "before request Metadata 1"
	if l.last[proc] != "" {
		at = "after " + l.last[proc]
	}
	l.fault("crash", proc, at, "")
	l.lives[proc]++
	delete(l.last, proc)
	delete(l.next, proc)
}

// later has something happen at the process's next event, whatever that is: a verb and
// what follows its place.
func (l *lifting) later(proc, verb, rest string) {
	l.next[proc] = append(l.next[proc], verb, rest)
}

// lose has the next event of a sort lost.
func (l *lifting) lose(proc, kind, op string) {
	l.fault("lose", proc, l.upcoming(proc, kind, op), "")
	l.event(proc, kind, op)
}

// refuse has the next event of a sort answered with an error.
func (l *lifting) refuse(proc, kind, op, code string) {
	l.fault("error", proc, l.upcoming(proc, kind, op), code)
	l.event(proc, kind, op)
}

// slow has the next event of a sort come late, which the trace has yet to come to.
func (l *lifting) slow(proc, kind, op string) {
	l.fault("delay", proc, l.upcoming(proc, kind, op), "by "+long)
}
