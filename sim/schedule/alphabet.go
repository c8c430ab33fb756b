package schedule

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// Alphabet is the places that a run has shown: what faults can be drawn from. It
// is sorted by process, kind and operation.
type Alphabet struct {
	Points []Seen
}

// Seen is one sort of boundary event that a process had.
type Seen struct {
	Proc, Op string
	Kind     model.Kind
	Most     int // greatest occurrence seen in one life
	Lives    int // greatest life in which it was seen
}

// Observe returns the alphabet of a history, best one of a run without faults.
// Events that a schedule cannot name (see [ValidName]) are left out.
func Observe(h *model.History) Alphabet {
	type key struct {
		proc, op string
		kind     model.Kind
	}
	var a Alphabet
	index := map[key]int{}
	for i := range h.Events() {
		e := &h.Events()[i]
		if !e.Kind.Boundary() || !validName(e.Proc) || !validName(e.Op) {
			continue
		}
		k := key{e.Proc, e.Op, e.Kind}
		at, ok := index[k]
		if !ok {
			at = len(a.Points)
			index[k] = at
			a.Points = append(a.Points, Seen{Proc: e.Proc, Op: e.Op, Kind: e.Kind})
		}
		s := &a.Points[at]
		s.Most, s.Lives = max(s.Most, e.Nth), max(s.Lives, e.Life)
	}
	slices.SortFunc(a.Points, compareSeen)
	return a
}

func compareSeen(a, b Seen) int {
	return cmp.Or(strings.Compare(a.Proc, b.Proc), compareKinds(a.Kind, b.Kind),
		strings.Compare(a.Op, b.Op))
}

// frequent holds the operations that a process repeats all the time and that
// seldom decide anything. They come last in enumerations and are drawn less.
var frequent = []string{
	"ApiVersions", "ConsumerGroupHeartbeat", "Fetch", "Heartbeat", "Metadata", "next", "slot",
}

func (s Seen) frequent() bool { return slices.Contains(frequent, s.Op) }

// ranked returns the points with the frequent ones last, otherwise in order.
func ranked(points []Seen) []Seen {
	out := slices.Clone(points)
	slices.SortStableFunc(out, func(a, b Seen) int {
		switch {
		case a.frequent() == b.frequent():
			return 0
		case b.frequent():
			return -1
		}
		return 1
	})
	return out
}

// Enumerate returns every single fault of the alphabet with the named verbs (none
// named: all), durations and codes being the defaults. The order is stable:
// operations that decide something first, then process, kind, operation, life,
// occurrence, verb, and the verb's own order. It panics on a name that is no
// verb: see [Options.Check].
func Enumerate(a Alphabet, verbs []string) iter.Seq[Fault] {
	vs := verbsNamed(verbs)
	o := Options{}.withDefaults()
	return func(yield func(Fault) bool) {
		for _, s := range ranked(a.Points) {
			for life := 1; life <= s.Lives; life++ {
				for nth := 1; nth <= s.Most; nth++ {
					p := Point{Proc: s.Proc, Life: life, Kind: s.Kind, Op: s.Op, Nth: nth}
					if !yieldAll(vs, p, o, yield) {
						return
					}
				}
			}
		}
	}
}

func yieldAll(vs []Verb, p Point, o Options, yield func(Fault) bool) bool {
	for _, v := range vs {
		for _, f := range v.All(p, o) {
			if !yield(f) {
				return false
			}
		}
	}
	return true
}
