package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model/specs"
)

// TestCoverage: a campaign says which steps its histories take, and shards add up to the
// same.
func TestCoverage(t *testing.T) {
	order := []string{"run", "--world", "player", "--schedules", "60", "--seed", "3",
		"--coverage", "--json"}
	out, stderr, status := runProgram(t, order...)
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	whole := linesOf(t, out)[0].Coverage
	if whole == nil || whole.Spec != "player" || !whole.Whole || len(whole.Classes) == 0 {
		t.Fatalf("got %+v", whole)
	}
	for _, step := range whole.Actions {
		if program := step.Known && !step.Fault; program && step.Walked == 0 &&
			step.Step != "tell not done" {
			t.Errorf("no history in 60 schedules takes %q", step.Step)
		}
	}
	merge := []string{"merge", "--json"}
	for _, shard := range []string{"1/2", "2/2"} {
		out, _, _ := runProgram(t, append(order, "--shard", shard)...)
		merge = append(merge, file(t, "results", out))
	}
	merged, _, _ := runHere(merge...)
	if diff := cmp.Diff(whole, linesOf(t, merged)[0].Coverage); diff != "" {
		t.Errorf("shards add up to something else (-whole +merged):\n%s", diff)
	}
	text, _, _ := runHere(append([]string{"merge"}, merge[2:]...)...)
	if !strings.Contains(text, "coverage of specification player: ") {
		t.Errorf("no table in:\n%s", text)
	}
	out, _, _ = runProgram(t, "run", "--world", "player", "--schedules", "3", "--conform=false",
		"--coverage", "--json")
	if c := linesOf(t, out)[0].Coverage; c != nil {
		t.Errorf("nothing was compared, and it says %+v", c)
	}
}

// TestCoverageTable: what was never walked, what a world cannot take, and what only
// histories have.
func TestCoverageTable(t *testing.T) {
	known := []specs.Taken{{Action: "put", Steps: 7}, {Action: "look", Steps: 1},
		{Action: "crash", Fault: true, Steps: 3}}
	classes := []specs.Taken{{Action: "put @ one owner"}, {Action: "put @ two owners"}}
	a := &coverage{
		Spec: "landing", Actions: cover(known, map[string]int{"put": 2000, "put fails": 1}),
		Classes: cover(classes, map[string]int{"put @ one owner": 2000}), States: 10, Whole: true,
	}
	b := &coverage{
		Spec: "landing", Actions: cover(known[:1], map[string]int{"put": 1}),
		Classes: cover(classes, nil), States: 5,
	}
	lines := []line{{Name: "one", Coverage: a}, {Name: "none"}, {Name: "landing-two", Coverage: b}}
	var out bytes.Buffer
	printCoverage(&out, false, lines)
	want := `
coverage of specification landing: 1 of 3 actions, 1 of 2 by the class of the state before
  step                          one  -two  classes
  put                         2,000     1      1/2
  look                        never     -
  crash (fault)               never     -
  put fails (histories only)      1     -
  walked, but never in these classes:
    put @ two owners
  no history tells: leave, rebalance
  of the steps that landing-two can take, those of the first 5 states are known
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	out.Reset()
	printCoverage(&out, false, lines[2:]) // none of its classes was walked: it has none
	if text := out.String(); strings.Contains(text, "class of") || strings.Contains(text, "@") {
		t.Errorf("classes of a specification that has none:\n%s", text)
	}
	sum := b.merged(a)
	for i, want := range []covered{
		{"put", false, 2001, true}, {"look", false, 0, true}, {"crash", true, 0, true},
		{"put fails", false, 1, false},
	} {
		if sum.Actions[i] != want {
			t.Errorf("%+v, want %+v", sum.Actions[i], want)
		}
	}
	if b.Actions[0].Walked != 1 || b.merged(nil) != nil {
		t.Error("a sum changes what it adds up, or makes do with a part")
	}
}
