package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
)

// specLine is a checked specification as --json prints it: the words of every result,
// and the report.
type specLine struct {
	Kind    string `json:"kind"` // "spec"
	Name    string `json:"name"`
	Promise string `json:"promise"` // the broken one: what it says
	Witness string `json:"witness"` // the counterexample in one line
	specs.Report
	Lift  *lift   `json:"lift,omitempty"`
	WallS float64 `json:"wall_s"`
}

// printChecks prints reports, and what came of lifting each, if that was asked for.
func (p *program) printChecks(k checking, reports []specs.Report, lifts []lift) error {
	if p.json {
		e := json.NewEncoder(p.out)
		e.SetEscapeHTML(false)
		for i, r := range reports {
			l := specLine{
				Kind: "spec", Name: r.Spec, Promise: r.Broken, Report: r, WallS: milli(r.Seconds),
			}
			var steps []string
			for _, s := range r.Steps {
				steps = append(steps, s.String())
			}
			l.Witness = strings.Join(steps, " ")
			if lifts != nil && r.Bug != "" {
				l.Lift = &lifts[i]
			}
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	colour := palette(colours(p.out))
	if k.format == "mermaid" {
		for _, r := range reports {
			if err := writeTraceMermaid(p.out, r); err != nil {
				return err
			}
		}
		return nil
	}
	printSpecTable(p.out, colour, reports, k.bugs)
	for _, r := range reports {
		if k.bugs && r.Bug != "" && len(reports) > 2 {
			continue // the table says that it was found, and how
		}
		printTrace(p.out, colour, r)
	}
	printLifts(p.out, colour, reports, lifts)
	for _, r := range reports {
		if k.actions {
			printActions(p.out, r)
		}
	}
	return nil
}

func printSpecTable(w io.Writer, colour palette, reports []specs.Report, bugs bool) {
	g := grid{
		head: []string{
			"specification", "bug", "states", "transitions", "depth", "steps", "s", "states/s",
			"verdict",
		},
		right: []bool{false, false, true, true, true, true, true, true, false},
	}
	for _, r := range reports {
		steps, verdict := "", r.Verdict
		if r.Verdict == broken {
			steps = fmt.Sprint(len(r.Steps))
		}
		if bugs && r.Bug != "" {
			verdict = found(r)
		}
		g.rows = append(g.rows, []string{
			r.Spec, r.Bug, thousands(int(r.States)), thousands(int(r.Transitions)),
			fmt.Sprint(r.Depth), steps, fmt.Sprintf("%.1f", r.Seconds),
			thousands(int(r.Rate)), verdict,
		})
	}
	rows := g.lines(func(row, column int, cell string) string {
		switch {
		case row < 0:
			return colour.head(cell)
		case column == len(g.head)-1:
			return colourOfCheck(colour, cell)
		}
		return cell
	})
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	for _, r := range reports {
		if r.Collision > 0 && r.Verdict == held && r.Collision > reportable {
			fmt.Fprintf(w, "%s: two states were taken for one with a probability of %.1g\n",
				r.Spec, r.Collision)
		}
	}
}

// reportable is the probability of a wrong count above which it is worth a line.
const reportable = 1e-6

// found is the verdict of a bug that must be found.
func found(r specs.Report) string {
	switch r.Verdict {
	case broken:
		return "found"
	case held:
		return "not found"
	}
	return r.Verdict
}

func colourOfCheck(colour palette, verdict string) string {
	switch verdict {
	case "found":
		return colour.good(verdict)
	case "not found":
		return colour.bad(verdict)
	}
	return colour.verdict(verdict)
}

// printTrace prints why a check did not hold: its counterexample, or what ended it.
func printTrace(w io.Writer, colour palette, r specs.Report) {
	name := r.Spec
	if r.Bug != "" {
		name += " with " + r.Bug
	}
	if r.Verdict == undecided {
		fmt.Fprint(w, "\n", colour.doubt(fold("undecided: "+name+": "+r.Why+fmt.Sprintf(
			"; covered %s states to depth %d, %s more were waiting",
			thousands(int(r.States)), r.Depth, thousands(int(r.Queue))), "")))
	}
	if r.Verdict != broken {
		return
	}
	fmt.Fprint(w, "\n", colour.bad(fold("broken: "+name+": "+r.Broken, "")))
	if r.Why != "" {
		fmt.Fprint(w, fold(r.Why, "  "))
	}
	for _, s := range r.Steps {
		fmt.Fprint(w, fold(s.String(), "  "), colour.faint(fold(s.State, "       ")))
	}
	if r.Mutant != "" && r.Liftable {
		printLifted(w, r)
	}
}

// printLifted prints a counterexample as a schedule.
func printLifted(w io.Writer, r specs.Report) {
	fmt.Fprintf(w, "as a schedule, of the mutant %s:\n", r.Mutant)
	for _, l := range r.Lifted {
		fmt.Fprintln(w, "    "+l)
	}
	if len(r.Lifted) == 0 {
		fmt.Fprintln(w, "    no faults")
	}
	if r.LiftedEnd != "" {
		fmt.Fprintf(w, "  and, if it passes:\n    %s\n", r.LiftedEnd)
	}
}

// printActions prints how often each action was taken; one that was never possible
// says that its promise was not looked at.
func printActions(w io.Writer, r specs.Report) {
	fmt.Fprintf(w, "\nactions of %s:\n", r.Spec)
	for _, a := range r.Actions {
		kind := ""
		if a.Fault {
			kind = " (fault)"
		}
		fmt.Fprintf(w, "  %12s  %s%s\n", thousands(int(a.Steps)), a.Action, kind)
	}
}

// writeTraceMermaid draws a counterexample: one lane per process, one note per step.
func writeTraceMermaid(w io.Writer, r specs.Report) error {
	if r.Verdict != broken {
		_, err := fmt.Fprintf(w, "%%%% %s: %s, there is no counterexample\n", r.Spec, r.Verdict)
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sequenceDiagram\n  %%%% %s %s\n", r.Spec, r.Bug)
	lanes := make(map[int]bool)
	for _, s := range r.Steps {
		if !lanes[s.Who] {
			lanes[s.Who] = true
			fmt.Fprintf(&b, "  participant %s\n", laneOf(s.Who))
		}
	}
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "  Note over %s: %s\n", laneOf(s.Who), mermaidText(s.String()))
	}
	fmt.Fprintf(&b, "  Note over %s: broken: %s\n",
		laneOf(r.Steps[len(r.Steps)-1].Who), mermaidText(r.Broken))
	_, err := io.WriteString(w, b.String())
	return err
}

func laneOf(who int) string {
	if who < 0 {
		return "world"
	}
	return fmt.Sprintf("p%d", who)
}

// mermaidText leaves out what ends a line or a statement in Mermaid.
func mermaidText(s string) string {
	return strings.NewReplacer(";", ",", "#", "no. ", "\n", " ").Replace(s)
}
