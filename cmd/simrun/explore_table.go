package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// surveyLine is the result of an exploration as --json prints it: a line of a world, with
// what was to be explored.
type surveyLine struct {
	line
	Bound int      `json:"bound"`           // most faults of a schedule
	Verbs []string `json:"verbs,omitempty"` // none: the world's
	// One and Two are the schedules of so many faults that were run, and OneOf and TwoOf
	// how many there are; -1: not known, because those of fewer faults were not all run.
	One       int  `json:"one_fault"`
	OneOf     int  `json:"one_fault_of"`
	Two       int  `json:"two_faults"`
	TwoOf     int  `json:"two_faults_of"`
	Exhausted bool `json:"exhausted"`
	// Idle schedules had a fault whose event did not come. Lost ones, or more, were left out.
	Idle int `json:"idle,omitempty"`
	Lost int `json:"lost,omitempty"`
	// Unseen is what is to be seen sometimes, and never was.
	Unseen []string `json:"unseen,omitempty"`
}

// write writes the line as JSON.
func (l surveyLine) write(w io.Writer) error {
	if l.Faults == nil {
		l.Faults = []string{}
	}
	l.VirtualS, l.WallS = milli(l.VirtualS), milli(l.WallS)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}

// line says what a survey found.
func (s *survey) line() surveyLine {
	t := s.sum()
	l := surveyLine{
		line: line{
			Kind: "world", Name: s.World, Mutant: s.Mutant, Seed: s.seed,
			Schedules: t.Schedules, Kills: t.kills(), Struck: t.Faults, VirtualS: t.VirtualS,
			WallS: t.wall.Seconds(), KilledAt: t.Kills, Cut: s.cut,
		},
		Bound: s.bound, Verbs: s.verbs, One: t.ran[1], OneOf: s.of[1], Two: t.ran[2],
		TwoOf: s.of[2], Exhausted: s.exhausted(), Idle: t.idle, Lost: t.lost,
	}
	if s.failed == 0 || len(s.swaths) == 0 || !s.swaths[0].done {
		l.OneOf = -1
	}
	if s.bound > 1 && (l.OneOf < 0 || l.One < l.OneOf) {
		l.TwoOf = -1
	}
	for _, n := range s.of {
		l.Wanted += n
	}
	if s.shard != whole {
		l.Shard = s.shard.String()
	}
	for _, must := range s.world.Sometimes {
		if t.Seen[must.Name] == 0 {
			l.Unseen = append(l.Unseen, must.Name)
		}
	}
	for _, event := range s.events {
		if t.Kills["before "+event]+t.Kills["after "+event] == 0 {
			l.Never = append(l.Never, event)
		}
	}
	if s.failure != nil {
		l.fail(s.failure)
	}
	l.judge()
	if l.Verdict == held && !l.Exhausted { // pairs that are not even counted
		l.Verdict = undecided
	}
	return l
}

// surveyTable prints the lines of explorations.
type surveyTable struct {
	palette
	w     io.Writer
	bound int
}

// print writes the table, what the crashes hit, and what is not decided.
func (t surveyTable) print(lines []surveyLine) {
	g := grid{
		head:  []string{"world", "one fault", "kills", "faults", "virtual", "verdict"},
		right: []bool{false, true, true, true, true, false},
	}
	if t.bound > 1 {
		g.head = append(g.head[:2:2], append([]string{"two faults"}, g.head[2:]...)...)
		g.right = append(g.right[:2:2], append([]bool{true}, g.right[2:]...)...)
	}
	plain := make([]line, len(lines))
	for i, l := range lines {
		plain[i] = l.line
		row := []string{fullName(l.line), share(l.One, l.OneOf)}
		if t.bound > 1 {
			row = append(row, share(l.Two, l.TwoOf))
		}
		g.rows = append(g.rows, append(row, thousands(l.Kills), thousands(l.Struck),
			span(l.VirtualS), l.Verdict))
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
	fmt.Fprint(t.w, "\n"+hits(plain))
}

// share says how many of all there are; -1 for a number that is not known.
func share(n, of int) string {
	if of < 0 {
		return thousands(n) + " of ?"
	}
	return thousands(n) + " of " + thousands(of)
}

// below is what stands under the row of a world.
func (t surveyTable) below(l surveyLine) string {
	const indent = "     "
	what := "of all kinds"
	if len(l.Verbs) > 0 {
		what = "of " + strings.Join(l.Verbs, ", ")
	}
	out := ""
	switch {
	case l.Promise != "":
		out = t.bad(fold("broken: "+l.Promise+" by schedule "+thousands(l.Nth), indent))
	case l.Exhausted:
		most := plural(l.Bound, "fault")
		if l.Shard != "" {
			most += ", of shard " + l.Shard
		}
		out = t.faint(fold("exhausted: every schedule of up to "+most+", "+what, indent))
	default:
		out = t.doubt(fold("not exhausted, faults "+what+": "+l.Says, indent))
	}
	if l.Idle > 0 {
		out += t.faint(fold(plural(l.Idle, "schedule")+
			" had a fault whose event did not come", indent))
	}
	if l.Lost > 0 {
		out += t.doubt(fold(plural(l.Lost, "schedule")+" or more were left out: run again, "+
			"other events came than before", indent))
	}
	if len(l.Unseen) > 0 && l.Promise == "" {
		out += t.faint(fold("never seen: "+strings.Join(l.Unseen, ", "), indent))
	}
	return out
}

// showSurvey writes what a survey has done so far.
func (g *gauge) showSurvey(s *survey) {
	if g == nil || time.Since(g.last) < rewriteEvery {
		return
	}
	g.last = time.Now()
	g.rewrite(surveyText(s, time.Since(s.began)))
}

// surveyText says: done of all, rate, kills, time left.
func surveyText(s *survey, elapsed time.Duration) string {
	t := s.sum()
	wanted := 0
	for _, n := range s.of {
		wanted += n
	}
	if s.limit > 0 {
		wanted = min(wanted, s.limit)
	}
	wanted = max(wanted, t.Schedules) // the first one is not yet counted
	rate := float64(t.Schedules) / max(elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s, %s: %s of %s, %.0f/s, %s", s.World, plural(s.phase, "fault"),
		thousands(t.Schedules), plural(wanted, "schedule"), rate, plural(t.kills(), "kill"))
	if s.failed != none {
		text += ", broken"
	} else if rate > 0 && wanted > t.Schedules {
		text += ", " + span(float64(wanted-t.Schedules)/rate) + " left"
	}
	return text
}
