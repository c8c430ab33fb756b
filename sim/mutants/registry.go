package mutants

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// Mutant is a wrong program in the world that it runs in.
type Mutant struct {
	// Name is the mistake in a word or two: "commit-first".
	Name string
	// Case is the id of the mistake or report: "S1", "A3".
	Case string
	// Says is the mistake as one sentence.
	Says string
	// World is the right world with the wrong program.
	World sim.World
	// Breaks names the promise that must catch it.
	Breaks string
}

var mutants = map[string]Mutant{}

// register is called from the init functions of this package. A name that is
// taken, and a promise that the world does not make, panic.
func register(m Mutant) {
	if _, ok := mutants[m.Name]; ok || !schedule.ValidName(m.Name) {
		panic(fmt.Sprintf("mutants: %q is registered twice, or is no name", m.Name))
	}
	for _, p := range m.World.AllPromises() {
		if p.Name == m.Breaks {
			mutants[m.Name] = m
			return
		}
	}
	panic(fmt.Sprintf("mutants: %s must break %s, which world %s does not promise",
		m.Name, m.Breaks, m.World.Name))
}

// All returns the mutants by case, S before A.
func All() []Mutant {
	var all []Mutant
	for _, m := range mutants {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Mutant) int {
		return cmp.Or(-strings.Compare(a.Case[:1], b.Case[:1]),
			cmp.Compare(number(a.Case), number(b.Case)), strings.Compare(a.Name, b.Name))
	})
	return all
}

// number returns the number in a case id, 0 where there is none.
func number(id string) int {
	n := 0
	for _, c := range id {
		if c >= '0' && c <= '9' {
			n = 10*n + int(c-'0')
		}
	}
	return n
}

// Named returns the mutant with that name or case, or an error that lists the
// names.
func Named(name string) (Mutant, error) {
	if m, ok := mutants[name]; ok {
		return m, nil
	}
	var names []string
	for _, m := range All() {
		if m.Case == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mutant{}, fmt.Errorf("there is no mutant %q; there are %s",
		name, strings.Join(names, ", "))
}

// with returns w with another program in its (only) process.
func with(w sim.World, run func(context.Context, sim.Env) error) sim.World {
	process := w.Processes[0]
	process.Run = run
	w.Processes = []sim.Process{process}
	return w
}
