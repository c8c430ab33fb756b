package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Swarm is what one seed is restricted to. A campaign in which every schedule may
// hold everything seldom has three crashes and nothing else; switching kinds of
// fault off for a while reaches such corners (Groce et al., Swarm Testing, 2012).
type Swarm struct {
	Verbs          []string // never empty
	Pauses, Delays []time.Duration
}

// DrawSwarm chooses which of the verbs and durations of o stay: each with a
// chance of two in three, at least one of every list. A choice of 0 keeps.
func DrawSwarm(c Chooser, o Options) Swarm {
	o = o.withDefaults()
	var names []string
	for _, v := range verbsNamed(o.Verbs) {
		names = append(names, v.Name)
	}
	return Swarm{
		Verbs:  keep(c, "keep verb", names),
		Pauses: keep(c, "keep pause", o.Pauses),
		Delays: keep(c, "keep delay", o.Delays),
	}
}

func keep[T any](c Chooser, label string, list []T) []T {
	const chances, off = 3, 2
	var kept []T
	for _, e := range list {
		if c.Intn(label, chances) != off {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		kept = slices.Clone(list[:1])
	}
	return kept
}

// Narrow returns o restricted to the swarm.
func (s Swarm) Narrow(o Options) Options {
	o.Verbs, o.Pauses, o.Delays = s.Verbs, s.Pauses, s.Delays
	return o
}

// String returns the swarm in one line, for the head of a run's output.
func (s Swarm) String() string {
	durations := func(list []time.Duration) string {
		var out []string
		for _, d := range list {
			out = append(out, formatDuration(d))
		}
		return strings.Join(out, ",")
	}
	return fmt.Sprintf("verbs %s; pauses %s; delays %s",
		strings.Join(s.Verbs, ","), durations(s.Pauses), durations(s.Delays))
}
