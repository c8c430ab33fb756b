//go:build synctests

package sim_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

// TestExploreShout is the test of the example, as far as there is time here.
func TestExploreShout(t *testing.T) { sim.Explore(t, shoutWorld, 1, sim.Schedules(40)) }

// oneCopier is a copier alone, which can only crash, with so many records to copy.
func oneCopier(records int, hop func(context.Context, sim.Env) error) sim.World {
	w := copierWorld(1, hop)
	w.Verbs = []string{"crash"}
	all := w.Input
	w.Input = func(rng *rand.Rand) []sim.Input { return all(rng)[:records] }
	w.Drained = func(v *model.View) bool { // partitions that stay empty are never committed
		return max(0, v.Committed("copier", "in", 0)) >= v.End("in", 0) &&
			max(0, v.Committed("copier", "in", 1)) >= v.End("in", 1)
	}
	return w
}

func explored(t *testing.T, e sim.Exploration) *sim.Explored {
	t.Helper()
	e.Seed = 7
	x, err := e.Run(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(x.Says())
	return x
}

// TestExploreAllCrashes wants the right copier to survive each single crash, and each of
// them to strike.
func TestExploreAllCrashes(t *testing.T) {
	w := oneCopier(24, copier)
	x := explored(t, sim.Exploration{World: w})
	if x.Failure != nil {
		t.Fatal(x.Failure.Message("-"))
	}
	kills := 0
	for _, n := range x.Kills {
		kills += n
	}
	if !x.Exhausted() || x.Of[1] < 100 || x.Idle > 0 || kills != x.Of[1] || x.Of[2] != 0 {
		t.Errorf("%d kills: %+v", kills, x)
	}
	half := explored(t, sim.Exploration{World: w, Limit: 20})
	if half.Exhausted() || half.Schedules != 20 || half.Of[1] != x.Of[1] {
		t.Errorf("with a limit of 20: %s", half.Says())
	}
}

// TestExploreFindsMistake wants the copier that commits first to be caught where the
// enumeration first kills it between the commit and the objects: after the commit's
// request. Before that one in the order are the schedule without faults, the crashes
// around the group's and the coordinator's requests, and the one before that commit.
func TestExploreFindsMistake(t *testing.T) {
	x := explored(t, sim.Exploration{World: oneCopier(24, hasty)})
	if x.Failure == nil {
		t.Fatal("not found")
	}
	f := x.Failure
	const want = "crash copier/0 life 1 after request OffsetCommit 1"
	if got := f.Schedule.Faults; f.Nth != 7 || len(got) != 1 || got[0].String() != want ||
		f.Agreed != f.Replays || f.Promise != "stored/in" {
		t.Errorf("got number %d, replayed %d/%d:\n%s", f.Nth, f.Agreed, f.Replays, f.Schedule)
	}
}

// relapsing is a copier that commits first once it was killed.
func relapsing(ctx context.Context, env sim.Env) error { return copies(ctx, env, env.Life > 1) }

// TestExplorePairs has a mistake that no single crash shows.
func TestExplorePairs(t *testing.T) {
	w := oneCopier(1, relapsing)
	one := explored(t, sim.Exploration{World: w})
	if one.Failure != nil || !one.Exhausted() {
		t.Fatalf("a single crash shows the mistake: %s", one.Says())
	}
	two := explored(t, sim.Exploration{World: w, Faults: 2})
	f := two.Failure
	if f == nil {
		t.Fatal("not found")
	}
	if f.Nth <= one.Schedules || two.Ran[1] != one.Ran[1] || len(f.Schedule.Faults) != 2 ||
		f.Schedule.Faults[1].String() != "crash copier/0 life 2 after request OffsetCommit 1" ||
		f.Agreed != f.Replays {
		t.Errorf("got number %d:\n%s", f.Nth, f.Schedule)
	}
}

// TestExploreEveryPairOnce runs pairs of crashes of the right copier, and wants all to
// strike, no two of them the same, and the same number in parts. There are some 3,000,
// which takes too long here.
func TestExploreEveryPairOnce(t *testing.T) {
	w := oneCopier(1, copier)
	runs, most := make(map[string]int), 0
	w.Sometimes = []props.Sometimes{{Name: "crashes", Seen: func(h *model.History) bool {
		var notes []string
		for _, e := range events(h, "copier/0", model.Crash) {
			notes = append(notes, e.Note)
		}
		slices.Sort(notes)
		key := strings.Join(notes, ", then ")
		runs[key]++
		most = max(most, runs[key])
		return len(notes) == 2
	}}}
	x := explored(t, sim.Exploration{World: w, Faults: 2, Limit: 400})
	if x.Failure != nil {
		t.Fatal(x.Failure.Message("-"))
	}
	if x.Exhausted() || x.Idle > 0 || x.Seen["crashes"] != x.Ran[2] || x.Of[2] < 40*x.Of[1] {
		t.Errorf("%d of the pairs struck: %+v", x.Seen["crashes"], x)
	}
	if most > 1 || len(runs) != x.Schedules {
		t.Errorf("%d different schedules in %d, one of them %d times", len(runs), x.Schedules, most)
	}

	last := x.Next[len(x.Next)-1]
	part := sim.Part{Next: last, From: last.Of - 3, To: last.Of}
	p, err := sim.Exploration{World: w, Seed: 7, Faults: 2}.RunParts(t, []sim.Part{part})
	if err != nil || p.Ran != [3]int{0, 0, 3} || p.Seen["crashes"] != 3 || p.Lost > 0 {
		t.Errorf("the last three pairs: %+v, %v", p, err)
	}
	part.To++ // one that does not exist
	part.Of = part.To
	p, err = sim.Exploration{World: w, Seed: 7, Faults: 2}.RunParts(t, []sim.Part{part})
	if err != nil || p.Ran[2] != 3 || p.Lost != 1 {
		t.Errorf("three pairs and one that is none: %+v, %v", p, err)
	}
	part.From = 0
	p, err = sim.Exploration{World: w, Seed: 7, Faults: 2}.RunParts(t, []sim.Part{part})
	if err != nil || p.Ran[2] != last.Of || p.Lost != 0 || p.Of[2] != -1 {
		t.Errorf("all pairs of a fault, counted one too many: %+v, %v", p, err)
	}
}

// TestExplored does nothing unless it is a child.
func TestExplored(t *testing.T) {
	hop, limit := copier, 0
	switch os.Getenv(checked) {
	case "":
		t.Skip("TestExploreSays starts this one in programs of its own")
	case "right":
		limit = 10
	case "wrong":
		hop = hasty
	}
	sim.Explore(t, oneCopier(1, hop), 1, sim.Seed(7), sim.Schedules(limit))
}

// TestExploreSays follows a failure from its finding to its fix.
func TestExploreSays(t *testing.T) {
	dir := t.TempDir()
	out, passed := check(t, dir, "wrong", "-test.run=^TestExplored$")
	files := saved(t, dir)
	if passed || len(files) != 1 {
		t.Fatalf("passed: %v, saved %v", passed, files)
	}
	has(t, out, "broken: stored/in", "broken again 5/5", "-hopcheck.replay "+files[0]+"\n",
		"crash copier/0 life 1 after request OffsetCommit 1")
	out, passed = check(t, dir, "right", "-test.run=^TestExplored$")
	if !passed {
		t.Error("failed")
	}
	has(t, out, files[0]+": another execution",
		"hopcheck: 10 schedules run, not all there are: 9 of 50 with one fault")
}
