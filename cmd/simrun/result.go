package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/sim"
)

// The verdicts.
const (
	held      = "held"
	broken    = "broken"
	undecided = "undecided"
)

// line is one result as --json prints it. What does not apply is left out, apart
// from the first group.
type line struct {
	Kind    string `json:"kind"` // world, mutant, replay, summary
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Promise string `json:"promise"` // the broken one, or what a mutant must break
	Witness string `json:"witness"`

	Seed      uint64   `json:"seed"`
	Schedules int      `json:"schedules"` // run; shrinking and replays not counted
	Kills     int      `json:"kills"`
	Faults    []string `json:"faults"` // of the shrunk schedule
	File      string   `json:"file"`   // the saved schedule
	Digest    string   `json:"digest"`
	VirtualS  float64  `json:"virtual_s"`
	WallS     float64  `json:"wall_s"` // of all workers together; of a summary: by the clock

	World  string `json:"world,omitempty"`  // of a mutant
	Mutant string `json:"mutant,omitempty"` // that ran in a world
	Case   string `json:"case,omitempty"`   // of a mutant
	Shard  string `json:"shard,omitempty"`  // "2/4"
	Wanted int    `json:"wanted,omitempty"` // schedules ordered; 0: as many as there was time for
	Cut    bool   `json:"interrupted,omitempty"`
	Struck int    `json:"struck,omitempty"` // faults that took effect
	Nth    int    `json:"nth,omitempty"`    // the schedule that broke the promise, from 1
	Agreed int    `json:"agreed,omitempty"` // replays that broke the promise again
	Same   int    `json:"same,omitempty"`   // replays that gave the same history
	Again  int    `json:"replays,omitempty"`
	// What was counted: crashes by boundary event, schedules by what they must show
	// sometimes, and evidence. Never are boundary events that no crash hit.
	KilledAt map[string]int `json:"killed_at,omitempty"`
	Never    []string       `json:"never_killed_at,omitempty"`
	Seen     map[string]int `json:"seen,omitempty"`
	Evidence map[string]int `json:"evidence,omitempty"`
	// Coverage is what was walked of the world's specification, where it was asked for.
	Coverage *coverage `json:"coverage,omitempty"`
	// Of a mutant: the seeds tried and those that caught it, and the schedules that
	// it took, on average and at most.
	Seeds  int     `json:"seeds,omitempty"`
	Caught int     `json:"caught,omitempty"`
	Mean   float64 `json:"mean,omitempty"`
	Most   int     `json:"most,omitempty"`
	// Says is a remark for people.
	Says string `json:"says,omitempty"`
}

// write writes the line as JSON.
func (l line) write(w io.Writer) error {
	if l.Faults == nil {
		l.Faults = []string{}
	}
	l.VirtualS, l.WallS = milli(l.VirtualS), milli(l.WallS)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}

func milli(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// worldLine says what a hunt knows of a subject.
func (o order) worldLine(s *subject) line {
	t, wall, _ := s.total()
	l := line{
		Kind: "world", Name: s.World, Mutant: s.Mutant, Seed: s.seed,
		Schedules: t.Schedules, Kills: t.kills(), Struck: t.Faults,
		VirtualS: t.VirtualS, WallS: wall.Seconds(), KilledAt: t.Kills,
		Seen: make(map[string]int), Evidence: make(map[string]int),
		Wanted: o.wanted(), Cut: o.cut,
	}
	if o.shard != whole {
		l.Shard = o.shard.String()
	}
	for _, must := range s.world.Sometimes {
		l.Seen[must.Name] = t.Seen[must.Name]
	}
	for _, e := range s.world.Evidence {
		l.Evidence[e.Name] = t.Evidence[e.Name]
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
	return l
}

// wanted is how many schedules of each subject are this shard's to run.
func (o order) wanted() int {
	n := 0
	if o.schedules > 0 {
		for round := 0; o.shard.batch(round)*batchSize < o.schedules; round++ {
			n += min(batchSize, o.schedules-o.shard.batch(round)*batchSize)
		}
	}
	return n
}

// fail puts a failure into the line.
func (l *line) fail(f *sim.Failure) {
	l.Promise, l.Digest, l.Nth = f.Promise, f.Schedule.Digest, f.Nth
	l.Agreed, l.Same, l.Again = f.Agreed, f.Same, f.Replays
	if len(f.Broken) > 0 {
		l.Witness = f.Broken[0].Witness
	}
	for _, fault := range f.Schedule.Faults {
		l.Faults = append(l.Faults, fault.String())
	}
}

// judge gives the line its verdict from what it says.
func (l *line) judge() {
	var unseen []string
	for _, name := range sorted(l.Seen) {
		if l.Seen[name] == 0 {
			unseen = append(unseen, name)
		}
	}
	l.Says = ""
	switch {
	case l.Promise != "":
		l.Verdict = broken
	case l.Wanted > 0 && l.Schedules < l.Wanted:
		l.Verdict = undecided
		l.Says = fmt.Sprintf("ended after %s of %s schedules",
			thousands(l.Schedules), thousands(l.Wanted))
	case l.Cut:
		l.Verdict = undecided
		l.Says = "interrupted after " + plural(l.Schedules, "schedule")
	case l.Schedules == 0:
		l.Verdict, l.Says = undecided, "no schedule was run"
	case len(unseen) > 0:
		l.Verdict = undecided
		l.Says = fmt.Sprintf("never seen in %s: %s",
			plural(l.Schedules, "schedule"), strings.Join(unseen, ", "))
	default:
		l.Verdict = held
	}
}

// statusOf returns the exit status for the verdicts of lines.
func statusOf(lines []line) int {
	status := 0
	for _, l := range lines {
		switch {
		case l.Verdict == broken:
			return statusBroken
		case l.Verdict == undecided:
			status = statusUndecided
		}
	}
	return status
}

// summary adds lines up.
func summary(lines []line, elapsed time.Duration) line {
	sum := line{Kind: "summary", Name: "simrun", Verdict: held, WallS: elapsed.Seconds()}
	for _, l := range lines {
		sum.Schedules += l.Schedules
		sum.Kills += l.Kills
		sum.Struck += l.Struck
		sum.VirtualS += l.VirtualS
		sum.Wanted += l.Wanted
		sum.Seed = l.Seed
		if l.Verdict == broken && sum.Promise == "" {
			sum.Promise, sum.Witness = l.Promise, l.Witness
			sum.File, sum.Digest, sum.Faults = l.File, l.Digest, l.Faults
		}
	}
	switch statusOf(lines) {
	case statusBroken:
		sum.Verdict = broken
	case statusUndecided:
		sum.Verdict = undecided
	}
	return sum
}

// merge adds what another shard says of the same world to the line.
func (l *line) merge(o line) {
	l.Schedules += o.Schedules
	l.Wanted += o.Wanted
	l.Kills += o.Kills
	l.Struck += o.Struck
	l.VirtualS += o.VirtualS
	l.WallS += o.WallS
	l.Cut = l.Cut || o.Cut
	for _, both := range []struct{ to, from *map[string]int }{
		{&l.KilledAt, &o.KilledAt}, {&l.Seen, &o.Seen}, {&l.Evidence, &o.Evidence},
	} {
		to := maps.Clone(*both.to)
		if to == nil {
			to = make(map[string]int)
		}
		addCounts(to, *both.from)
		*both.to = to
	}
	l.Coverage = l.Coverage.merged(o.Coverage)
	l.Never = slices.DeleteFunc(l.Never, func(event string) bool {
		return !slices.Contains(o.Never, event)
	})
	if l.Promise == "" && o.Promise != "" {
		l.Promise, l.Witness, l.Faults = o.Promise, o.Witness, o.Faults
		l.File, l.Digest, l.Nth = o.File, o.Digest, o.Nth
		l.Agreed, l.Same, l.Again = o.Agreed, o.Same, o.Again
	}
	l.judge()
}
