package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// coverage is how often the histories of a campaign take each step of a specification.
type coverage struct {
	Spec string `json:"spec"`
	// Actions are steps by action, Classes by action and the class of the state before:
	// first those that the exploration knows, then those that only histories have.
	Actions []covered `json:"actions"`
	Classes []covered `json:"classes,omitempty"`
	// States is how many states were explored for what there is; Whole: all there are.
	States int  `json:"states"`
	Whole  bool `json:"whole"`
}

// covered is one step: a Walked of 0 says that no history took it.
type covered struct {
	Step   string `json:"step"`
	Fault  bool   `json:"fault,omitempty"`
	Walked int    `json:"walked"`
	// Known says that the exploration knows the step. What it does not know only a
	// history shows: a call that fails and changes nothing, for one.
	Known bool `json:"known"`
}

// exploredStates bounds the exploration that says which steps there are.
const exploredStates = 200_000

// coverageOf returns the coverage of a subject's specification; nil where its world has
// none, or runs a mutant.
func coverageOf(s *subject) (*coverage, error) {
	e, err := worlds.Named(s.World)
	if err != nil || e.Spec == "" || s.world.Walked == nil {
		return nil, nil
	}
	known, err := e.Known(exploredStates)
	if err != nil {
		return nil, fmt.Errorf("exploring specification %s: %w", e.Spec, err)
	}
	t, _, _ := s.total()
	actions, classes := make(map[string]int), make(map[string]int)
	for step, n := range t.Walked {
		if strings.Contains(step, " @ ") {
			classes[step] = n
		} else {
			actions[step] = n
		}
	}
	return &coverage{
		Spec: e.Spec, Actions: cover(known.Actions, actions),
		Classes: cover(known.Classes, classes), States: known.States, Whole: known.Whole,
	}, nil
}

// cover puts what is known and what was walked together.
func cover(known []specs.Taken, walked map[string]int) []covered {
	var all []covered
	seen := make(map[string]bool)
	for _, k := range known {
		if seen[k.Action] {
			continue // a step that is a fault in some states only
		}
		seen[k.Action] = true
		all = append(all, covered{k.Action, k.Fault, walked[k.Action], true})
	}
	for _, step := range sorted(walked) {
		if !seen[step] {
			all = append(all, covered{Step: step, Walked: walked[step]})
		}
	}
	return all
}

// merged adds up two coverages of one world; one that is nil has nothing to add.
func (c *coverage) merged(o *coverage) *coverage {
	if c == nil || o == nil {
		return nil // of a part nobody knows
	}
	sum := *c
	sum.Actions = addCovered(c.Actions, o.Actions)
	sum.Classes = addCovered(c.Classes, o.Classes)
	return &sum
}

func addCovered(a, b []covered) []covered {
	sum := slices.Clone(a)
	for _, step := range b {
		i := slices.IndexFunc(sum, func(c covered) bool { return c.Step == step.Step })
		if i < 0 {
			sum = append(sum, step)
			continue
		}
		sum[i].Walked += step.Walked
		sum[i].Known = sum[i].Known || step.Known
		sum[i].Fault = sum[i].Fault || step.Fault
	}
	slices.SortStableFunc(sum, func(x, y covered) int { return x.rank() - y.rank() })
	return sum
}

// rank orders steps: the program's, then faults, then those that only histories have.
func (c covered) rank() int {
	switch {
	case !c.Known:
		return 2
	case c.Fault:
		return 1
	}
	return 0
}

// walked counts the known steps that were walked, and the known ones.
func walked(steps []covered) (n, of int) {
	for _, s := range steps {
		if s.Known {
			of++
			if s.Walked > 0 {
				n++
			}
		}
	}
	return n, of
}

// printCoverage prints a table for each specification, with a column for each world.
func printCoverage(w io.Writer, colour palette, lines []line) {
	var names []string
	of := make(map[string][]line)
	for _, l := range lines {
		if l.Coverage == nil {
			continue
		}
		if of[l.Coverage.Spec] == nil {
			names = append(names, l.Coverage.Spec)
		}
		of[l.Coverage.Spec] = append(of[l.Coverage.Spec], l)
	}
	for _, name := range names {
		coverageTable{colour, w, of[name]}.print(name)
	}
}

// coverageTable prints what the worlds of one specification walked of it.
type coverageTable struct {
	palette
	w     io.Writer
	lines []line
}

func (t coverageTable) print(spec string) {
	actions, classes := t.lines[0].Coverage.Actions, t.lines[0].Coverage.Classes
	for _, l := range t.lines[1:] {
		actions = addCovered(actions, l.Coverage.Actions)
		classes = addCovered(classes, l.Coverage.Classes)
	}
	n, all := walked(actions)
	text := fmt.Sprintf("coverage of specification %s: %d of %d actions", spec, n, all)
	if m, in := walked(classes); m > 0 {
		text += fmt.Sprintf(", %d of %d by the class of the state before", m, in)
	} else {
		classes = nil // its histories are not sorted into classes
	}
	fmt.Fprintf(t.w, "\n%s\n", t.head(text))
	g := grid{head: []string{"step"}, right: []bool{false}}
	for _, l := range t.lines {
		name := fullName(l)
		if rest, ok := strings.CutPrefix(name, spec+"-"); ok {
			name = "-" + rest // many columns have to fit
		}
		g.head, g.right = append(g.head, name), append(g.right, true)
	}
	g.head, g.right = append(g.head, "classes"), append(g.right, true)
	for _, a := range actions {
		g.rows = append(g.rows, t.row(a, classes))
	}
	rows := g.lines(func(row, _ int, cell string) string {
		switch {
		case row < 0:
			return t.head(cell)
		case strings.TrimSpace(cell) == "never":
			return t.doubt(cell)
		}
		return cell
	})
	for _, row := range rows {
		fmt.Fprintln(t.w, "  "+row)
	}
	if never := neverWalked(actions, classes); len(never) > 0 {
		fmt.Fprint(t.w, t.faint("  walked, but never in these classes:\n"))
		for _, step := range never {
			fmt.Fprint(t.w, t.faint(fold(step, "    ")))
		}
	}
	if e, err := specs.Named(spec); err == nil && len(e.Untold) > 0 {
		fmt.Fprint(t.w, t.faint(fold("no history tells: "+strings.Join(e.Untold, ", "), "  ")))
	}
	for _, l := range t.lines {
		if !l.Coverage.Whole {
			fmt.Fprint(t.w, t.faint(fold(fmt.Sprintf("of the steps that %s can take, those of "+
				"the first %s states are known", fullName(l), thousands(l.Coverage.States)), "  ")))
		}
	}
}

// row is one action: how often each world walked it, and in how many classes.
func (t coverageTable) row(a covered, classes []covered) []string {
	name := a.Step
	switch a.rank() {
	case 1:
		name += " (fault)"
	case 2:
		name += " (histories only)"
	}
	row := []string{name}
	for _, l := range t.lines {
		cell := "-" // the world cannot take it
		for _, c := range l.Coverage.Actions {
			switch {
			case c.Step != a.Step:
			case c.Walked > 0:
				cell = thousands(c.Walked)
			case c.Known:
				cell = "never"
			}
		}
		row = append(row, cell)
	}
	var in []covered
	for _, c := range classes {
		if strings.HasPrefix(c.Step, a.Step+" @ ") {
			in = append(in, c)
		}
	}
	if n, all := walked(in); all > 0 {
		return append(row, fmt.Sprintf("%d/%d", n, all))
	}
	return append(row, "")
}

// neverWalked are the actions that histories take, each with the classes in which none
// does.
func neverWalked(actions, classes []covered) []string {
	var never []string
	for _, a := range actions {
		var in []string
		for _, c := range classes {
			class, ok := strings.CutPrefix(c.Step, a.Step+" @ ")
			if ok && c.Known && c.Walked == 0 {
				in = append(in, class)
			}
		}
		if a.Walked > 0 && len(in) > 0 {
			never = append(never, a.Step+" @ "+strings.Join(in, "; "))
		}
	}
	return never
}
