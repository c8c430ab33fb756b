package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// predicate is a synthetic failure: needed says for some of the faults how much
// of each must stay. It is not monotonic: that many faults or more always fail.
type predicate struct {
	needed []schedule.Fault
	many   int
}

// fails holds if for each needed fault there is one of its verb, process, kind
// and operation that is not before it, or if there are many faults.
func (p predicate) fails(faults []schedule.Fault) bool {
	if len(faults) >= p.many {
		return true
	}
	for _, n := range p.needed {
		if !slices.ContainsFunc(faults, func(f schedule.Fault) bool { return covers(f, n) }) {
			return false
		}
	}
	return true
}

func covers(f, n schedule.Fault) bool {
	a, b := f.At(), n.At()
	return f.Action().Do == n.Action().Do && a.Proc == b.Proc && a.Kind == b.Kind &&
		a.Op == b.Op && a.Nth >= b.Nth && f.Action().For >= n.Action().For
}

func drawPredicate(rt *rapid.T) ([]schedule.Fault, predicate) {
	faults := schedule.Draw(chooser{rt}, alphabet(), schedule.Options{MaxFaults: 12})
	p := predicate{many: rapid.IntRange(1, 20).Draw(rt, "many")}
	for _, f := range faults {
		if rapid.IntRange(0, 3).Draw(rt, "needed") == 0 {
			p.needed = append(p.needed, f)
		}
	}
	return faults, p
}

func TestShrink(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		faults, p := drawPredicate(rt)
		before := slices.Clone(faults)
		calls := 0
		count := func(f []schedule.Fault) bool { calls++; return p.fails(f) }
		got := schedule.Shrink(faults, count, 1_000_000)
		if !slices.Equal(before, faults) {
			rt.Fatal("the input was changed")
		}
		if !p.fails(got) {
			rt.Fatalf("%v does not fail", got)
		}
		for i, f := range got {
			if less := slices.Delete(slices.Clone(got), i, i+1); p.fails(less) {
				rt.Fatalf("%v still fails without %v", got, f)
			}
			for _, s := range f.Simpler() {
				other := slices.Clone(got)
				other[i] = s
				taken := slices.ContainsFunc(got, func(o schedule.Fault) bool {
					return o != f && o.At() == s.At()
				})
				if !taken && p.fails(other) {
					rt.Fatalf("%v still fails with %v for %v", got, s, f)
				}
			}
		}
		if again := schedule.Shrink(faults, p.fails, 1_000_000); !slices.Equal(got, again) {
			rt.Fatalf("%v, then %v", got, again)
		}
		if calls > 3000 {
			rt.Fatalf("%d calls for %d faults", calls, len(faults))
		}
	})
}

func TestShrinkKeepsToItsBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		faults, p := drawPredicate(rt)
		budget := rapid.IntRange(-1, 60).Draw(rt, "budget")
		calls := 0
		asked := map[string]bool{}
		got := schedule.Shrink(faults, func(f []schedule.Fault) bool {
			if calls++; asked[fmt.Sprint(f)] {
				rt.Fatalf("asked twice: %v", f)
			}
			asked[fmt.Sprint(f)] = true
			return p.fails(f)
		}, budget)
		if calls > max(budget, 0) {
			rt.Fatalf("%d calls with a budget of %d", calls, budget)
		}
		if p.fails(faults) && !p.fails(got) {
			rt.Fatalf("%v does not fail", got)
		}
	})
}

func TestShrinkFindsTheSmallCase(t *testing.T) {
	start := []schedule.Fault{
		schedule.MustFault("lose player/0 life 1 reply Produce 3"),
		schedule.MustFault("pause landing/0 life 2 at call put 900 for 3600s"),
		schedule.MustFault("crash landing/0 life 1 after request OffsetCommit 2"),
		schedule.MustFault("stop player/0 life 1 at request Produce 3"),
	}
	calls := 0
	got := schedule.Shrink(start, func(f []schedule.Fault) bool {
		calls++
		return slices.ContainsFunc(f, func(f schedule.Fault) bool {
			return f.Action().Do == schedule.Pause && f.Action().For >= 45e9 && f.At().Nth >= 613
		})
	}, 1000)
	want := []schedule.Fault{schedule.MustFault("pause landing/0 life 1 at call put 613 for 50s")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if calls > 100 {
		t.Errorf("%d calls", calls)
	}
	none := schedule.Shrink(start, func([]schedule.Fault) bool { return true }, 1)
	if len(none) != 0 {
		t.Errorf("left %v of a failure that needs no fault", none)
	}
}

// TestSimplerEnds: every chain of simpler faults comes to an end, keeps its verb,
// and each of its members parses.
func TestSimplerEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := schedule.Options{Lives: 3, MaxNth: 40,
			Codes: map[string][]string{"put": {"precondition", "denied"}}}
		f := schedule.Draw(chooser{rt}, alphabet(), o)[0]
		seen := map[schedule.Fault]bool{f: true}
		for steps := 0; ; steps++ {
			next := f.Simpler()
			if len(next) == 0 {
				return
			}
			do := f.Action().Do
			f = next[rapid.IntRange(0, len(next)-1).Draw(rt, "next")]
			if seen[f] || steps > 1000 {
				rt.Fatalf("round and round: %v", f)
			}
			seen[f] = true
			if f.Action().Do != do {
				rt.Fatalf("%v does something else than %v", f, do)
			}
			if back, err := schedule.ParseFault(f.String()); err != nil || back != f {
				rt.Fatalf("%v came back as %v, %v", f, back, err)
			}
		}
	})
}
