package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/sim"
)

// surveyOf parses the first line that --json prints, without the times of the machine.
func surveyOf(t *testing.T, out string) surveyLine {
	t.Helper()
	text, _, _ := strings.Cut(out, "\n")
	var l surveyLine
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	l.WallS, l.VirtualS = 0, math.Round(l.VirtualS)
	return l
}

// TestExplore wants every single crash of a world to be run, by any number of workers,
// and by shards that are added up.
func TestExplore(t *testing.T) {
	order := []string{"explore", "--world", "player", "--verb", "crash", "--json"}
	out, stderr, status := runProgram(t, append(order, "--workers", "1")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	want := surveyOf(t, out)
	if !want.Exhausted || want.Verdict != held || want.One != want.OneOf || want.One < 100 ||
		want.Schedules != want.One+1 || want.Idle > 0 || len(want.Never) > 0 ||
		want.Kills < want.One-5 { // few find that the life has ended by itself
		t.Errorf("got %s", out)
	}
	three, _, _ := runProgram(t, append(order, "--workers", "3")...)
	inside := cmp.AllowUnexported(surveyLine{})
	if diff := cmp.Diff(want, surveyOf(t, three), inside); diff != "" {
		t.Errorf("three workers differ from one (-one +three):\n%s", diff)
	}
	merge := []string{"merge", "--json"}
	for _, shard := range []string{"1/2", "2/2"} {
		part, _, status := runProgram(t, append(order, "--shard", shard)...)
		if l := surveyOf(t, part); status != 0 || !l.Exhausted || l.One == 0 || l.One == want.One {
			t.Errorf("shard %s: status %d: %s", shard, status, part)
		}
		merge = append(merge, file(t, "results", part))
	}
	merged, _, status := runHere(merge...)
	if diff := cmp.Diff(want.line, surveyOf(t, merged).line); diff != "" || status != 0 {
		t.Errorf("status %d, shards add up to something else (-whole +merged):\n%s", status, diff)
	}
}

// TestExplorePairs goes on to the first pairs of faults and is stopped by its limit.
func TestExplorePairs(t *testing.T) {
	const limit = 190
	order := []string{"explore", "--world", "player", "--verb", "crash", "--faults", "2",
		"--limit", "190"}
	out, stderr, status := runProgram(t, append(order, "--json")...)
	l := surveyOf(t, out)
	if status != statusUndecided || stderr != "" || l.Verdict != undecided || l.Exhausted ||
		l.One != l.OneOf || l.Two != limit-1-l.One || l.TwoOf < 10*l.OneOf || l.Lost > 0 ||
		l.Says == "" || l.Schedules != limit || l.Kills < l.One+l.Two {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	order[len(order)-1] = "20"
	out, _, status = runProgram(t, order...)
	if status != statusUndecided || !strings.Contains(out, "  19 of 132      0 of ?") ||
		!strings.Contains(out, "not exhausted, faults of crash: ended after 20 of 133") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// TestExploreFails follows a broken promise to its replay: the mutant commits first, and
// is caught by the first crash that comes between the commit and the object.
func TestExploreFails(t *testing.T) {
	dir := t.TempDir()
	order := []string{"explore", "--mutant", "commit-first", "--verb", "crash", "--out", dir}
	out, stderr, status := runProgram(t, order...)
	path := filepath.Join(dir, "landing-one-commit-first-1.schedule")
	for _, want := range []string{
		"broken: no-loss/learning.progress by schedule ", "schedule (1 fault",
		"broken again 5/5, the same history 5/5", "replay " + path + "\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if status != statusBroken || len(files) != 3 {
		t.Errorf("status %d, saved %v: %s", status, files, stderr)
	}
	out, _, status = runProgram(t, "replay", path)
	if status != statusBroken || !strings.Contains(out, "same execution, event by event") {
		t.Errorf("replay: status %d:\n%s", status, out)
	}
}

// TestExploreNumber has a promise break after several batches: its place in the order is
// that of the last schedule that counts, whoever ran what.
func TestExploreNumber(t *testing.T) {
	var want surveyLine
	for _, workers := range []string{"1", "3"} {
		out, stderr, status := runProgram(t, "explore", "--mutant", "mark-first", "--verb", "crash",
			"--json", "--workers", workers)
		l := surveyOf(t, out)
		if status != statusBroken || l.Nth <= batchSize+1 || l.Nth != l.Schedules ||
			l.One != l.Nth-1 || l.Exhausted {
			t.Fatalf("%s workers: status %d: %s%s", workers, status, out, stderr)
		}
		if want.Nth == 0 {
			want = l
		} else if l.Nth != want.Nth || !slices.Equal(l.Faults, want.Faults) {
			t.Errorf("number %d, %v; with one worker %d, %v",
				l.Nth, l.Faults, want.Nth, want.Faults)
		}
	}
}

func TestExploreBadInput(t *testing.T) {
	if !sim.Simulates {
		t.Skip("this build refuses earlier")
	}
	world := []string{"explore", "--world", "player"}
	refuse(t, []refusal{
		{"no world", []string{"explore"}, "flags in the group [world mutant] is required"},
		{"unknown world", []string{"explore", "--world", "moon"}, `no world "moon"; there are`},
		{"faults", append(world, "--faults", "3"), "--faults 3: want 1 or 2"},
		{"limit", append(world, "--limit", "-1"), "--limit -1: want 1 to"},
		{"verb", append(world, "--verb", "krash"), `--verb: no fault verb "krash" (did`},
		{"shard", append(world, "--shard", "3/2"), `--shard "3/2": want i/n`},
		{"verb of another world", []string{"explore", "--mutant", "random-transactional-id",
			"--verb", "lose"}, "has only the faults crash"},
	})
}

// TestCutter wants parts that hold every schedule once, in order.
func TestCutter(t *testing.T) {
	next := []following{{"a", 3}, {"b", 0}, {"c", 120}, {"d", 1}}
	for _, most := range []int{1, 2, 50, 1000} {
		c := cutter{next: next}
		at := map[string]int{}
		for total := 0; ; {
			parts, size := c.cut(most)
			if size == 0 {
				if total != 124 {
					t.Errorf("in pieces of %d: %d schedules", most, total)
				}
				break
			}
			total += size
			for _, p := range parts {
				if p.From != at[p.First] || p.To <= p.From || p.To > p.Of || size > most {
					t.Errorf("in pieces of %d: %+v comes after %d", most, p, at[p.First])
				}
				at[p.First] = p.To
			}
		}
	}

	c := cutter{next: next}
	for i, want := range []int{123, 1, 0} {
		if _, size := c.wholes(50, 0); size != want {
			t.Errorf("undivided, number %d has %d schedules, want %d", i, size, want)
		}
	}
	c = cutter{next: next}
	if _, size := c.wholes(50, 7); size != 7 {
		t.Errorf("undivided, to a limit of 7: %d schedules", size)
	}
}
