package worlds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// Entry is a registered world.
type Entry struct {
	sim.World
	// Hop is the number of the hop in the bus's table, [WholeBus] for all of them, and
	// Claim what may be claimed of it.
	Hop   int
	Claim string
	// Heavy says that a run takes as long as several of another world's.
	Heavy bool
	// WithEvents returns the world fed with these record values instead of its own;
	// nil where that makes no sense.
	WithEvents func(values [][]byte) sim.World
	// Spec names the specification whose behaviours the world's histories are, At says
	// where in them the hop is; "" for none. The world then promises conforms/SPEC.
	Spec string
	At   specs.Topology
}

// HopText returns the number of the hop, as tables show it.
func (e Entry) HopText() string {
	if e.Hop == WholeBus {
		return "all"
	}
	return strconv.Itoa(e.Hop)
}

var entries = map[string]Entry{}

// register is called from the init functions of this package; a name that is taken
// or that a schedule could not say panics.
func register(e Entry) {
	if !schedule.ValidName(e.Name) {
		panic(fmt.Sprintf("worlds: %q is no name for a world", e.Name))
	}
	if _, ok := entries[e.Name]; ok {
		panic(fmt.Sprintf("worlds: world %s is registered twice", e.Name))
	}
	e.World = e.conforming(e.World)
	if fed := e.WithEvents; fed != nil {
		e.WithEvents = func(values [][]byte) sim.World { return e.conforming(fed(values)) }
	}
	entries[e.Name] = e
}

// All returns the registered worlds, by hop and then by name.
func All() []Entry {
	var all []Entry
	for _, e := range entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if a.Hop != b.Hop {
			return a.Hop - b.Hop
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// Named returns the world with that name, or an error that lists the names.
func Named(name string) (Entry, error) {
	if e, ok := entries[name]; ok {
		return e, nil
	}
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("there is no world %q; there are %s",
		name, strings.Join(names, ", "))
}
