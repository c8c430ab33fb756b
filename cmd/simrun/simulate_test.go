package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
)

// linesOf parses what --json prints, without the times of the machine.
func linesOf(t *testing.T, out string) []line {
	t.Helper()
	var all []line
	for _, text := range strings.Split(strings.TrimSpace(out), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		l.WallS = 0
		l.VirtualS = math.Round(l.VirtualS) // sums of shards are rounded before
		all = append(all, l)
	}
	return all
}

// TestWorkers wants the same results from any number of workers, and from shards
// that are added up.
func TestWorkers(t *testing.T) {
	order := []string{"run", "--world", "player", "--world", "landing-one", "--schedules", "60",
		"--seed", "3", "--json"}
	one, stderr, status := runProgram(t, append(order, "--workers", "1")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s%s", status, one, stderr)
	}
	three, _, _ := runProgram(t, append(order, "--workers", "3")...)
	want := linesOf(t, one)
	if diff := cmp.Diff(want, linesOf(t, three)); diff != "" {
		t.Errorf("three workers differ from one (-one +three):\n%s", diff)
	}
	if len(want) != 3 || want[0].Schedules != 60 || want[0].Verdict != held {
		t.Errorf("got %+v", want)
	}

	merge := []string{"merge", "--json"}
	for _, shard := range []string{"1/2", "2/2"} {
		out, _, _ := runProgram(t, append(order, "--shard", shard)...)
		merge = append(merge, file(t, "results", out))
	}
	merged, _, status := runHere(merge...)
	if status != 0 {
		t.Errorf("merge: status %d", status)
	}
	if diff := cmp.Diff(want, linesOf(t, merged)); diff != "" {
		t.Errorf("shards add up to something else (-whole +merged):\n%s", diff)
	}
	half, _, status := runHere(merge[:3]...)
	got := linesOf(t, half)[0]
	if status != statusUndecided || got.Says != "results of 1 of 2 shards" {
		t.Errorf("one shard of two: status %d, %q", status, got.Says)
	}
	_, stderr, status = runHere("merge", merge[2], merge[2])
	if status != statusWrongUse || !strings.Contains(stderr, "shard 1/2 of world player is in") {
		t.Errorf("one shard twice: status %d, %q", status, stderr)
	}
}

// TestFailure follows a broken promise from the campaign to the replay, the
// verdict and the drawings.
func TestFailure(t *testing.T) {
	dir := t.TempDir()
	out, stderr, status := runProgram(t, "run", "--mutant", "not-idempotent", "--out", dir)
	if status != statusBroken || stderr != "" {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 3 {
		t.Fatalf("saved %v, want a schedule, a history and a page", files)
	}
	path := files[2]
	for _, want := range []string{
		"broken: no-unasked-append/learning.progress: The log", "broken again 5/5, the same history 5/5",
		"replay " + path + "\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}

	out, _, status = runProgram(t, "replay", path, "--times", "2")
	if status != statusBroken || strings.Count(out, "same execution, event by event") != 2 {
		t.Errorf("replay: status %d:\n%s", status, out)
	}
	out, _, _ = runProgram(t, "replay", path, "--json")
	if l := linesOf(t, out)[0]; l.Kind != "replay" || l.Same != 1 || l.Verdict != broken ||
		l.Mutant != "not-idempotent" || len(l.Faults) != 1 {
		t.Errorf("replay said %s", out)
	}
	history := strings.TrimSuffix(path, scheduleEnding) + historyEnding
	out, _, status = runHere("judge", history)
	if status != statusBroken || !strings.Contains(out, "broken  no-unasked-append") {
		t.Errorf("judge: status %d:\n%s", status, out)
	}
	for _, ending := range []string{"page.html", "d.mmd", "t.txt"} {
		to := filepath.Join(dir, ending)
		if _, stderr, status := runHere("report", history, "-o", to); status != 0 {
			t.Errorf("report to %s: status %d: %s", ending, status, stderr)
		}
	}
	saved, _ := os.ReadFile(strings.TrimSuffix(path, scheduleEnding) + pageEnding)
	again, _ := os.ReadFile(filepath.Join(dir, "page.html"))
	if diff := cmp.Diff(string(saved), string(again)); diff != "" || len(saved) == 0 {
		t.Errorf("the page differs from the saved one:\n%s", diff)
	}
}

// TestAnotherExecution replays a schedule whose record is of another run.
func TestAnotherExecution(t *testing.T) {
	path := file(t, "x.schedule", "world player\nseed 5\ndigest 0123456789abcdef\n")
	history := strings.TrimSuffix(path, scheduleEnding) + historyEnding
	var recorded model.History
	recorded.Append(model.Event{Kind: model.Heal})
	f, err := os.Create(history)
	if err != nil {
		t.Fatal(err)
	}
	if err := recorded.WriteJSONL(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	out, stderr, status := runProgram(t, "replay", path)
	if status != 0 || !strings.Contains(out, "another execution than the recorded one") ||
		!strings.Contains(out, "first difference, event 1:\n  - 1 0s - heal\n  + 1 ") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
}

func TestMutants(t *testing.T) {
	out, stderr, status := runProgram(t, "mutants", "not-idempotent", "--seeds", "1")
	if status != 0 || !strings.Contains(out, "1 of 1 mutants caught") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	out, _, status = runProgram(t, "mutants", "not-idempotent", "--seeds", "1", "--schedules", "1")
	if status != statusBroken || !strings.Contains(out, "NOT CAUGHT") {
		t.Errorf("not caught: status %d:\n%s", status, out)
	}
}

// TestTour runs every world, but too briefly to see what must be seen.
func TestTour(t *testing.T) {
	dir := t.TempDir()
	out, stderr, status := runProgram(t, "--schedules", "2", "--out", dir)
	if status != statusUndecided {
		t.Errorf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"hop  world", "never seen in 2 schedules: crash/any"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if width(line) > 120 {
			t.Errorf("too wide: %q", line)
		}
	}
}

// TestEvents feeds a world with lines of all sorts.
func TestEvents(t *testing.T) {
	out, stderr, status := runProgram(t, "run", "--world", "landing-one", "--schedules", "6",
		"--events", sample(t), "--json")
	l := linesOf(t, out)[0]
	if status != 0 && status != statusUndecided || l.Promise != "" || l.Schedules != 6 {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if n := l.Evidence["copies in learning.progress"]; n < 100 {
		t.Errorf("saw %d copies: the events did not arrive", n)
	}
}

func TestFor(t *testing.T) {
	out, stderr, status := runProgram(t, "run", "--world", "player", "--for", "700ms", "--json")
	if l := linesOf(t, out)[0]; status != 0 || l.Schedules == 0 {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// TestDeadWorker has workers that are another program.
func TestDeadWorker(t *testing.T) {
	dies := filepath.Join(t.TempDir(), "dies")
	script := "#!/bin/sh\necho 'panic: no more' >&2\nexit 7\n"
	if err := os.WriteFile(dies, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f := &fleet{workers: 1, program: dies}
	_, err := f.do(context.Background(), job{scene: scene{World: "moon"}, Seed: 3}, func(tally) {})
	want := `a worker died \(world moon, seed 3\): exit status 7\n +panic: no more`
	if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("got %v, want %s", err, want)
	}
}
