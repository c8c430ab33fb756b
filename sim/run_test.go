//go:build synctests

package sim_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestSameScheduleSameHistory runs each schedule ten times in this one process. Of
// two members one run in a hundred may differ, since the machine interrupts goroutines
// when it likes (docs/decisions/0003); of ten runs one.
func TestSameScheduleSameHistory(t *testing.T) {
	for name, faults := range map[string][]string{
		"none": nil,
		"crash and pause": {
			"crash copier/0 life 1 after request OffsetCommit 2",
			"pause copier/1 life 1 at call put 3 for 30s",
		},
		"errors": {
			"lose copier/0 life 1 reply OffsetCommit 1",
			"error copier/0 life 1 reply OffsetCommit 2 NOT_COORDINATOR",
			"error copier/1 life 1 call put 2 throttled",
		},
		"stop and delay": {
			"stop copier/0 life 1 at call put 4",
			"delay copier/1 life 1 reply ConsumerGroupHeartbeat 2 by 15s",
			"crash copier/0 life 2 before reply OffsetFetch 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[string]int)
			most := 0
			var some []*model.History
			for range 10 {
				h := under(t, copierWorld(2, copier), faults...).History
				if seen[h.Digest()]++; seen[h.Digest()] == 1 {
					some = append(some, h)
				}
				most = max(most, seen[h.Digest()])
			}
			if most < 9 {
				diff := cmp.Diff(lines(t, some[0]), lines(t, some[1]))
				t.Fatalf("histories: %v (-one +other):\n%.3000s", seen, diff)
			}
		})
	}
}

func TestSeedMakesTheInput(t *testing.T) {
	w := copierWorld(1, copier)
	digests := make(map[string]bool)
	for seed := range uint64(3) {
		res, err := sim.Run(t, w, schedule.Schedule{World: w.Name, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		digests[res.History.Digest()] = true
	}
	if len(digests) != 3 {
		t.Errorf("3 seeds gave %d histories", len(digests))
	}
}

func TestSeveralBrokers(t *testing.T) {
	w := copierWorld(2, copier)
	w.Brokers = 3
	sound(t, under(t, w, "crash copier/0 life 1 after request OffsetCommit 2"))
}

func TestUnfiredFaultsAreReported(t *testing.T) {
	never := "crash copier/0 life 7 after request OffsetCommit 99"
	res := under(t, copierWorld(1, copier), never, "crash copier/0 life 1 before call put 2")
	if len(res.Unfired) != 1 || res.Unfired[0].String() != never {
		t.Errorf("unfired: %v, want %s", res.Unfired, never)
	}
	if n := res.Kills["before call put"]; n != 1 || len(res.Kills) != 1 {
		t.Errorf("kills: %v", res.Kills)
	}
}

func TestCannotDrain(t *testing.T) {
	w := copierWorld(1, copier)
	w.Safety, w.Liveness = 30*time.Second, 90*time.Second
	w.Drained = func(*model.View) bool { return false }
	res := under(t, w)
	if res.Drained || len(res.Broken) != 1 {
		t.Fatalf("drained: %v, broken: %v", res.Drained, res.Broken)
	}
	b := res.Broken[0]
	if b.Promise != "drains/copier" || !strings.Contains(b.Witness, "1m30s") {
		t.Errorf("promise %s, witness %q: want drains/copier and its bound", b.Promise, b.Witness)
	}
	if want := w.Safety + w.Liveness; res.Virtual != want {
		t.Errorf("took %v, want %v", res.Virtual, want)
	}
	for _, p := range w.AllPromises() {
		if p.Name == b.Promise && !strings.Contains(p.Says, "1m30s") {
			t.Errorf("says %q: without the bound", p.Says)
		}
	}
}

// TestNoDrained has a world that does not say when it has drained.
func TestNoDrained(t *testing.T) {
	w := copierWorld(1, copier)
	w.Drained = nil
	if res := under(t, w); !res.Drained || res.Virtual < 5*time.Second {
		t.Errorf("drained: %v after %v: want true once the input is in", res.Drained, res.Virtual)
	}
}

func TestRefusals(t *testing.T) {
	change := func(f func(w *sim.World)) sim.World {
		w := copierWorld(1, copier)
		f(&w)
		return w
	}
	for _, c := range []struct {
		name   string
		world  sim.World
		faults []schedule.Fault
		want   string
	}{
		{
			"unknown process", copierWorld(1, copier),
			[]schedule.Fault{schedule.MustFault("crash copier/1 life 1 before call put 1")},
			"copier/1",
		},
		{
			"the world's own producer", copierWorld(1, copier),
			[]schedule.Fault{schedule.MustFault("crash world/0 life 1 before request Produce 1")},
			"world/0",
		},
		{"no name", change(func(w *sim.World) { w.Name = "" }), nil, "name"},
		{"no process", change(func(w *sim.World) { w.Processes = nil }), nil, "no process"},
		{"no Run", change(func(w *sim.World) { w.Processes[0].Run = nil }), nil, "no Run"},
		{"process name", change(func(w *sim.World) { w.Processes[0].Name = "a b" }), nil, `"a b"`},
		{"process twice", change(func(w *sim.World) {
			w.Processes = append(w.Processes, w.Processes[0])
		}), nil, "taken"},
		{"topic twice", change(func(w *sim.World) {
			w.Topics = append(w.Topics, w.Topics[0])
		}), nil, "twice"},
		{"no partitions", change(func(w *sim.World) { w.Topics[0].Partitions = 0 }), nil, "1 at"},
		{"verb", change(func(w *sim.World) { w.Verbs = []string{"explode"} }), nil, "explode"},
		{"input without a topic", change(func(w *sim.World) {
			w.Input = func(*rand.Rand) []sim.Input { return []sim.Input{{Topic: "elsewhere"}} }
		}), nil, "topic elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := schedule.Schedule{World: c.world.Name, Seed: 7, Faults: c.faults}
			res, err := sim.Run(t, c.world, s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if res != nil {
				t.Error("there is a result all the same")
			}
		})
	}
}

// TestErrorsOfLives has a Run whose error ends up in the history, on one line.
func TestErrorsOfLives(t *testing.T) {
	w := copierWorld(1, func(ctx context.Context, env sim.Env) error {
		if env.Life == 1 {
			return errors.New("two\nlines")
		}
		return copier(ctx, env)
	})
	res := under(t, w)
	sound(t, res)
	exits := events(res.History, "copier/0", model.Exit)
	if len(exits) == 0 || exits[0].Err != "two lines" || exits[0].Outcome != model.NotDone {
		t.Errorf("exits: %v", exits)
	}
}
