package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/sim/worlds"
)

// hopTable prints the lines of worlds with their evidence.
type hopTable struct {
	palette
	w io.Writer
}

// print writes the table, what the crashes hit, and what is not decided.
func (t hopTable) print(lines []line) {
	g := grid{
		head: []string{
			"hop", "world", "schedules", "kills", "faults", "broken", "virtual", "verdict",
		},
		right: []bool{true, false, true, true, true, true, true, false},
	}
	for _, l := range lines {
		hop := "-"
		if e, err := worlds.Named(l.Name); err == nil {
			hop = e.HopText()
		}
		broken := "0"
		if l.Promise != "" {
			broken = "1"
		}
		g.rows = append(g.rows, []string{
			hop, fullName(l), thousands(l.Schedules), thousands(l.Kills), thousands(l.Struck),
			broken, span(l.VirtualS), l.Verdict,
		})
	}
	rows := g.lines(func(row, column int, cell string) string {
		switch {
		case row < 0:
			return t.head(cell)
		case column == len(g.head)-1:
			return t.verdict(cell)
		}
		return cell
	})
	fmt.Fprintln(t.w, rows[0])
	for i, l := range lines {
		fmt.Fprintln(t.w, rows[i+1])
		fmt.Fprint(t.w, t.below(l))
	}
	fmt.Fprint(t.w, "\n"+hits(lines))
	for _, l := range lines {
		if l.Verdict == undecided {
			fmt.Fprint(t.w, t.doubt(fold("undecided: world "+fullName(l)+": "+l.Says, "")))
		}
	}
}

func fullName(l line) string {
	if l.Mutant != "" {
		return l.Name + " (" + l.Mutant + ")"
	}
	return l.Name
}

// below is what stands under the row of a world: its claim, and the evidence.
func (t hopTable) below(l line) string {
	const indent = "     "
	out := ""
	if e, err := worlds.Named(l.Name); err == nil && e.Claim != "" && l.Mutant == "" {
		out += t.faint(fold(e.Claim, indent))
	}
	var counts []string
	for _, name := range sorted(l.Evidence) {
		counts = append(counts, name+" "+thousands(l.Evidence[name]))
	}
	if len(counts) > 0 {
		out += t.faint(foldList(counts, indent))
	}
	if l.Promise != "" {
		out += t.bad(fold("broken: "+l.Promise+" by schedule "+thousands(l.Nth), indent))
	}
	return out
}

// shownHits is how many boundary events are listed by name.
const shownHits = 18

// hits says at which boundary events the crashes were, and which none hit.
func hits(lines []line) string {
	at := make(map[string]int)
	never := make(map[string]bool)
	total := 0
	for _, l := range lines {
		for where, n := range l.KilledAt {
			_, event, _ := strings.Cut(where, " ") // before or after
			at[event] += n
			total += n
		}
		for _, event := range l.Never {
			never[event] = true
		}
	}
	events := sorted(at)
	slices.SortStableFunc(events, func(a, b string) int { return cmp.Compare(at[b], at[a]) })
	var items []string
	for i, event := range events {
		if i == shownHits {
			items = append(items, fmt.Sprintf("and %d other events", len(events)-i))
			break
		}
		items = append(items, event+" "+thousands(at[event]))
	}
	if len(items) == 0 {
		items = []string{"none"}
	}
	out := plural(total, "crash") + " at these boundary events:\n" + foldList(items, "  ")
	if total != 1 {
		out = strings.Replace(out, "crashs", "crashes", 1)
	}
	var missed []string
	for event := range never {
		if at[event] == 0 {
			missed = append(missed, event)
		}
	}
	slices.Sort(missed)
	if len(missed) > 0 {
		out += "no crash at:\n" + foldList(missed, "  ")
	}
	return out
}

// closing is the last line of a campaign.
func closing(sum line, p palette, workers int) string {
	return fmt.Sprintf("%s: %s, %s, %s virtual in %.1f s with %s, seed %d\n",
		p.verdict(sum.Verdict), plural(sum.Schedules, "schedule"), plural(sum.Kills, "kill"),
		span(sum.VirtualS), sum.WallS, plural(workers, "worker"), sum.Seed)
}

// shownFaults is how many faults of a mutant's smallest schedule are listed.
const shownFaults = 3

// mutantTable prints the lines of mutants.
type mutantTable struct {
	palette
	w io.Writer
}

func (t mutantTable) print(lines []line) {
	g := grid{
		head: []string{
			"case", "mutant", "world", "caught by", "seeds", "mean", "max", "faults", "replays",
		},
		right: []bool{false, false, false, false, true, true, true, true, true},
	}
	for _, l := range lines {
		g.rows = append(g.rows, mutantRow(l))
	}
	rows := g.lines(func(row, column int, cell string) string {
		switch {
		case row < 0:
			return t.head(cell)
		case column == 3 && lines[row].Verdict == held:
			return t.bad(cell)
		case column == 3 && lines[row].Verdict == undecided:
			return t.doubt(cell)
		}
		return cell
	})
	fmt.Fprintln(t.w, rows[0])
	for i, l := range lines {
		fmt.Fprintln(t.w, rows[i+1])
		for _, fault := range l.Faults[:min(len(l.Faults), shownFaults)] {
			fmt.Fprintln(t.w, t.faint("      "+fault))
		}
	}
	fmt.Fprint(t.w, t.faint("\n"+fold("seeds: that caught it; mean, max: schedules until the "+
		"promise broke; faults: of the smallest schedule; replays: that broke it again, in fresh "+
		"processes", "")))
	for _, l := range lines {
		if l.Verdict == held {
			fmt.Fprint(t.w, t.bad(fold(fmt.Sprintf(
				"not caught: %s (%s) should break %s, and %s did not",
				l.Name, l.Case, l.Promise, plural(l.Schedules, "schedule")), "")))
		}
	}
}

func mutantRow(l line) []string {
	kind, _, _ := strings.Cut(l.Promise, "/")
	row := []string{l.Case, l.Name, l.World, kind, fmt.Sprintf("%d/%d", l.Caught, l.Seeds)}
	switch l.Verdict {
	case held:
		row[3] = "NOT CAUGHT"
		return append(row, "-", "-", "-", "-")
	case undecided:
		row[3] = "undecided"
		return append(row, "-", "-", "-", "-")
	}
	return append(row, fmt.Sprintf("%.1f", l.Mean), thousands(l.Most),
		fmt.Sprint(len(l.Faults)), fmt.Sprintf("%d/%d", l.Agreed, l.Again))
}
