package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// printLifts prints what came of lifting: of one report in full, of several a table.
func printLifts(w io.Writer, colour palette, reports []specs.Report, lifts []lift) {
	n := 0
	for i, l := range lifts {
		if reports[i].Bug == "" || l.Verdict == "" {
			continue
		}
		n++
	}
	if n == 0 {
		return
	}
	if n > 1 {
		printLiftTable(w, colour, reports, lifts)
	}
	for i, l := range lifts {
		if l.Verdict != "" && (n == 1 || l.missed()) {
			printLift(w, colour, reports[i], l)
		}
	}
}

// printLift says what came of one counterexample.
func printLift(w io.Writer, colour palette, r specs.Report, l lift) {
	if l.Verdict != confirmed {
		text := fmt.Sprintf("%s: %s with %s", l.Verdict, r.Spec, r.Bug)
		if l.Mutant != "" {
			text += fmt.Sprintf(" on mutant %s (world %s, %s)", l.Mutant, l.World, l.Promise)
		}
		fmt.Fprint(w, "\n", colour.doubt(fold(text+": "+l.Why, "")))
		return
	}
	fmt.Fprint(w, "\n", colour.bad(fold(fmt.Sprintf(
		"confirmed on the implementation: mutant %s breaks %s: %s",
		l.Mutant, l.Promise, l.Witness), "")))
	for _, line := range strings.Split(strings.TrimSpace(l.Schedule), "\n") {
		fmt.Fprintln(w, "    "+line)
	}
	if len(l.Also) > 0 {
		fmt.Fprint(w, fold("also broken: "+strings.Join(l.Also, ", "), "  "))
	}
	idle := ""
	if l.Idle > 0 {
		idle = fmt.Sprintf(" (%d named an event that never came)", l.Idle)
	}
	fmt.Fprint(w, fold(fmt.Sprintf("try %d of at most %d%s: %s; broken again in %d of %d fresh "+
		"processes; the promise under the same schedule with the right program: %s; with the "+
		"mutant and no faults: %s",
		l.Tries, l.Of, idle, l.Looked, l.Agreed, l.Replays, l.Right, l.Plain), "  "))
}

// printLiftTable prints a row for each counterexample, and the faults below it.
func printLiftTable(w io.Writer, colour palette, reports []specs.Report, lifts []lift) {
	g := grid{
		head: []string{
			"specification", "bug", "mutant", "world", "tries", "again", "right", "no faults",
			"lifted",
		},
		right: []bool{false, false, false, false, true, true, false, false, false},
	}
	var faults [][]string
	for i, l := range lifts {
		if l.Verdict == "" {
			continue
		}
		again, mutant := "", cmp.Or(l.Mutant, "-")
		if l.Replays > 0 {
			again = fmt.Sprintf("%d/%d", l.Agreed, l.Replays)
		}
		g.rows = append(g.rows, []string{
			reports[i].Spec, reports[i].Bug, mutant, l.World, fmt.Sprint(l.Tries), again, l.Right,
			l.Plain, l.Verdict,
		})
		faults = append(faults, l.faults())
	}
	rows := g.lines(func(row, column int, cell string) string {
		switch {
		case row < 0:
			return colour.head(cell)
		case column == len(g.head)-1 && cell == confirmed:
			return colour.good(cell)
		case column == len(g.head)-1:
			return colour.doubt(cell)
		}
		return cell
	})
	fmt.Fprintln(w, "\n"+rows[0])
	for i, row := range rows[1:] {
		fmt.Fprintln(w, row)
		for _, f := range faults[i] {
			fmt.Fprintln(w, colour.faint("      "+f))
		}
	}
	fmt.Fprint(w, colour.faint("\n"+fold(
		"tries: schedules until the mutant broke its promise, the lifted one first, then those "+
			"around it; again: fresh processes that broke it again; right: the right program "+
			"under the same schedule; no faults: the mutant without any", "")))
}

// faults returns the lines of what goes wrong, and how far from the lifted schedule.
func (l lift) faults() []string {
	if l.Verdict != confirmed {
		return nil
	}
	s, err := schedule.Parse(strings.NewReader(l.Schedule))
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, f := range s.Faults {
		lines = append(lines, f.String())
	}
	if len(lines) == 0 {
		lines = []string{"no faults"}
	}
	return append(lines, "("+l.Looked+")")
}
