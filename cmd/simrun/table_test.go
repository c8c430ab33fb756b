package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHopTable(t *testing.T) {
	lines := []line{
		{
			Name: "player", Verdict: held, Schedules: 1200, Kills: 31, Struck: 90, VirtualS: 11520,
			KilledAt: map[string]int{"before request Produce": 20, "after request Produce": 10,
				"after reply Metadata": 1},
			Never:    []string{"reply Produce"},
			Evidence: map[string]int{"copies in 統計": 12345},
		},
		{
			Name: "elsewhere", Mutant: "wrong", Verdict: broken, Promise: "no-loss/x", Nth: 7,
			Schedules: 7, VirtualS: 61,
		},
		{
			Name: "third", Verdict: undecided, Schedules: 3,
			Says: "never seen in 3 schedules: crash/any",
		},
	}
	var out bytes.Buffer
	hopTable{w: &out}.print(lines)
	want := `hop  world              schedules  kills  faults  broken  virtual  verdict
  1  player                 1,200     31      90       0    3h12m  held
     at-least-once per event id; no append that no send asked for
     copies in 統計 12,345
  -  elsewhere (wrong)          7      0       0       1    1m01s  broken
     broken: no-loss/x by schedule 7
  -  third                      3      0       0       0       0s  undecided

31 crashes at these boundary events:
  request Produce 30, reply Metadata 1
no crash at:
  reply Produce
undecided: world third: never seen in 3 schedules: crash/any
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	out.Reset()
	hopTable{palette: true, w: &out}.print(lines)
	if !strings.Contains(out.String(), "\x1b[32mheld\x1b[0m") {
		t.Errorf("no colours: %q", out.String())
	}
}

func TestMutantTable(t *testing.T) {
	lines := []line{
		{
			Case: "S1", Name: "commit-first", World: "landing", Verdict: broken,
			Promise: "no-loss/x", Faults: []string{"crash"},
			Seeds: 5, Caught: 5, Mean: 5.25, Most: 8, Agreed: 5, Again: 5,
		},
		{Case: "A12", Name: "m", World: "player", Verdict: held, Promise: "p/y", Seeds: 5,
			Schedules: 1500},
		{Case: "A13", Name: "n", World: "player", Verdict: undecided, Promise: "p/y", Seeds: 5},
	}
	var out bytes.Buffer
	mutantTable{w: &out}.print(lines)
	want := `case  mutant        world    caught by   seeds  mean  max  faults  replays
S1    commit-first  landing  no-loss       5/5   5.2    8       1      5/5
      crash
A12   m             player   NOT CAUGHT    0/5     -    -       -        -
A13   n             player   undecided     0/5     -    -       -        -

seeds: that caught it; mean, max: schedules until the promise broke; faults: of the smallest
schedule; replays: that broke it again, in fresh processes
not caught: m (A12) should break p/y, and 1,500 schedules did not
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestScreen(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "åsa": 3, "美咲": 4, "e\u0301": 1} {
		if got := width(text); got != want {
			t.Errorf("width(%q) = %d, want %d", text, got, want)
		}
	}
	if got := cut("美咲美咲", 5); width(got) > 5 || got != "美咲…" {
		t.Errorf("cut to %q", got)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q", n, got)
		}
	}
	spans := map[float64]string{0.4: "0s", 61: "1m01s", 7260: "2h01m", 200000: "2d07h"}
	for s, want := range spans {
		if got := span(s); got != want {
			t.Errorf("span(%v) = %q, want %q", s, got, want)
		}
	}
	list := foldList([]string{strings.Repeat("a b", 20), strings.Repeat("c d", 20)}, "  ")
	want := "  " + strings.Repeat("a b", 20) + ",\n  " + strings.Repeat("c d", 20) + "\n"
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBatches(t *testing.T) {
	if batchSeed(7, 0) != 7 {
		t.Error("batch 0 has another seed than the campaign")
	}
	seen := make(map[uint64]bool)
	for seed := range uint64(20) {
		for k := range 20 {
			seen[batchSeed(seed, k)] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d seeds of 400 batches", len(seen))
	}
	// The seeds are part of what a saved command means: they must not change.
	if got := batchSeed(1, 1); got != 0x910a2dec89025cc1 {
		t.Errorf("batchSeed(1, 1) = %#x", got)
	}
	for _, schedules := range []int{1, 49, 50, 51, 120, 1000} {
		total := 0
		for i := range 3 {
			total += order{schedules: schedules, shard: shard{i + 1, 3}}.wanted()
		}
		if total != schedules {
			t.Errorf("three shards of %d want %d", schedules, total)
		}
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"out/a-1.schedule": "out/a-1.schedule", "a b": "'a b'", "it's": `'it'\''s'`, "": "''",
	} {
		if got := quoted(path); got != want {
			t.Errorf("quoted(%q) = %s, want %s", path, got, want)
		}
	}
}
