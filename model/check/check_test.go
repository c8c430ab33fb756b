package check

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
)

// counters is n counters to m that go up one at a time: (m+1)^n states in n*m
// levels.
func counters(n int, m uint8) Spec[[6]uint8] {
	return Spec[[6]uint8]{
		Name: "counters",
		Init: make([][6]uint8, 1),
		Next: func(c *Out[[6]uint8], s *[6]uint8) {
			for i, v := range s[:n] {
				if v < m {
					c.Do("count", i)[i]++
				}
			}
		},
	}
}

// each is the engines with one worker and with three.
var each = []Options{
	{Engine: Fingerprint},
	{Engine: Exact},
	{Engine: Fingerprint, Workers: 3},
	{Engine: Exact, Workers: 3},
}

func TestCounts(t *testing.T) {
	for _, o := range each {
		r := Check(counters(6, 7), o)
		if r.Verdict != Held || r.States != 262_144 || r.Transitions != 6*7*32_768 ||
			r.Depth != 42 || r.Quiescent != 1 || r.Queue != 0 {
			t.Errorf("%s, %d workers: %+v", r.Engine, r.Workers, r)
		}
		if (r.Collision > 0) != (o.Engine == Fingerprint) || r.Collision > 1e-8 {
			t.Errorf("%s: collision with probability %g", r.Engine, r.Collision)
		}
	}
}

// TestSameCounterexample wants it from every engine, however many there are.
func TestSameCounterexample(t *testing.T) {
	spec := counters(4, 9)
	spec.Always = func(s *[6]uint8) error {
		if s[0]+s[1]+s[2]+s[3] == 20 && s[2] < s[1] {
			return errors.New("twenty")
		}
		return nil
	}
	want := Check(spec, Options{Engine: Exact})
	follow(t, spec, want)
	if want.Violation.Depth != 20 || want.Violation.Err.Error() != "twenty" {
		t.Errorf("%+v", want.Violation)
	}
	for _, o := range each {
		r := Check(spec, o)
		if d := diff.Diff(want.Trace, r.Trace); d != "" || r.States != want.States {
			t.Errorf("%s, %d workers: %d states, want %d\n%s",
				r.Engine, r.Workers, r.States, want.States, d)
		}
	}
}

func TestLittleMemory(t *testing.T) {
	for _, o := range each {
		o.Memory = 1 << 20
		r := Check(counters(6, 9), o)
		if r.Verdict != Undecided || r.Why != outOfMemory || r.Bytes > o.Memory {
			t.Errorf("%s: %s (%s) with %d bytes", r.Engine, r.Verdict, r.Why, r.Bytes)
		}
		if r.States < 10_000 || r.Queue <= 0 || r.Queue >= r.States || r.Depth < 10 {
			t.Errorf("%s: %d states, %d queued, depth %d", r.Engine, r.States, r.Queue, r.Depth)
		}
		o.Memory = 1000
		if r := Check(counters(1, 1), o); r.Verdict != Undecided || r.Why == "" {
			t.Errorf("with 1000 bytes: %s, %s", r.Verdict, r.Why)
		}
	}
}

// TestNoMemoryForTheTrace finds with fingerprints what exact has no room for.
func TestNoMemoryForTheTrace(t *testing.T) {
	spec := counters(6, 7)
	spec.Quiescent = func(*[6]uint8) error { return errors.New("never at rest") }
	r := Check(spec, Options{Memory: 5 << 20})
	if r.Verdict != Broken || r.Violation.Depth != 42 || r.Trace != nil ||
		!strings.Contains(r.Why, outOfMemory) {
		t.Errorf("%s with %+v, %d steps, %s", r.Verdict, r.Violation, len(r.Trace), r.Why)
	}
}

func TestBounds(t *testing.T) {
	for _, o := range each {
		deep := o
		deep.Depth = 5
		r := Check(counters(6, 9), deep)
		if r.Verdict != Undecided || r.Depth != 5 || r.States != 462 || r.Queue != 252 {
			t.Errorf("depth 5: %+v", r)
		}
		deep.Depth = 12
		if r := Check(counters(2, 6), deep); r.Verdict != Undecided || r.Queue != 1 {
			t.Errorf("the last state is not judged at depth 12: %+v", r)
		}
		deep.Depth = 13
		if r := Check(counters(2, 6), deep); r.Verdict != Held {
			t.Errorf("all is judged within 13 steps: %+v", r)
		}
		many := o
		many.States = 20_000
		if r := Check(counters(6, 9), many); r.Verdict != Undecided ||
			r.States < 20_000 || r.States > 23_000 {
			t.Errorf("20,000 states: %+v", r)
		}
		stopped := o
		var asked atomic.Int64
		stopped.Stop = func() bool { return asked.Add(1) > 10 }
		if r := Check(counters(6, 9), stopped); r.Verdict != Undecided || r.States > 20_000 {
			t.Errorf("stopped: %+v", r)
		}
	}
}

func TestForgetfulFingerprints(t *testing.T) {
	for _, o := range each {
		o.forget = 56 // 255 are left
		r := Check(counters(3, 9), o)
		if r.Verdict != Held {
			t.Errorf("%s: %s", r.Engine, r.Verdict)
		}
		if o.Engine == Exact && r.States != 1000 {
			t.Errorf("exact with equal hashes: %d states, want 1000", r.States)
		}
		if o.Engine == Fingerprint && (r.States < 100 || r.States > 255) {
			t.Errorf("%d states by 255 fingerprints", r.States)
		}
		if r := Check(counters(3, 9), o); r.States > 1000 || r.Transitions > 2700 {
			t.Errorf("states that are not there: %+v", r)
		}
	}
}

func TestMistakesInSpecifications(t *testing.T) {
	spec := counters(2, 3)
	spec.Next = func(c *Out[[6]uint8], s *[6]uint8) {
		if s[0] < 3 {
			c.Do("wrong", 0)
			s[0]++
		}
	}
	for _, o := range each {
		if r := Check(spec, o); r.Verdict != Undecided || !strings.Contains(r.Why, "Next changes") {
			t.Errorf("%s: %s", r.Verdict, r.Why)
		}
	}
	if r := Check(Spec[int]{Next: spec1(0).Next}, Options{}); r.Verdict != Undecided {
		t.Error("no initial state:", r.Verdict)
	}
	if r := Check(Spec[int]{Init: []int{1}}, Options{}); r.Verdict != Undecided {
		t.Error("no Next:", r.Verdict)
	}
}

// spec1 has a state with so many steps, all asked for before any is edited.
func spec1(n int) Spec[int] {
	return Spec[int]{
		Init: []int{0},
		Next: func(c *Out[int], s *int) {
			if *s != 0 {
				return
			}
			var copies []*int
			for i := range n {
				if i%3 == 0 {
					copies = append(copies, c.Fault("fault", i))
				} else {
					copies = append(copies, c.Do("do", i))
				}
			}
			for i, copied := range copies {
				*copied = i + 1
			}
		},
	}
}

func TestManySteps(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 255, 256, 511, 512, 767, 768, 769, 5000, 40_000} {
		spec := spec1(n)
		for _, o := range each {
			r := Check(spec, o)
			rest := int64(n)
			if n == 1 {
				rest = 2 // the only step is a fault
			}
			if r.Verdict != Held || r.States != int64(n)+1 || r.Quiescent != rest {
				t.Errorf("%d steps, %s: %s with %d states, %d at rest, %s",
					n, r.Engine, r.Verdict, r.States, r.Quiescent, r.Why)
			}
		}
		for i, step := range Successors(spec, 0) {
			if step.Who != i || step.State != i+1 || step.Fault != (i%3 == 0) {
				t.Fatalf("step %d of %d is %+v", i, n, step)
			}
		}
	}
}

// TestManyFaults has a state at rest in spite of so many steps: every third is a
// fault, the others change nothing.
func TestManyFaults(t *testing.T) {
	for _, n := range []int{3, 300, 900, 4998} {
		spec := Spec[int]{
			Init: []int{0},
			Next: func(c *Out[int], s *int) {
				for i := range n {
					if i%3 == 0 {
						*c.Fault("fault", i) = (*s + i) % n
					} else {
						c.Do("look", i)
					}
				}
			},
		}
		if r := Check(spec, Options{}); r.Verdict != Held || r.Quiescent != int64(n)/3 {
			t.Errorf("%d steps: %s with %d states at rest of %d", n, r.Verdict, r.Quiescent, n/3)
		}
	}
}

func TestProgressAndActions(t *testing.T) {
	for _, o := range each {
		var seen []Progress
		var clock atomic.Int64
		clock.Store(1000)
		o.Every = 10_000
		o.Actions = true
		o.Progress = func(p Progress) { seen = append(seen, p) }
		o.Clock = func() time.Duration { return time.Duration(clock.Add(1)) * time.Second }
		r := Check(counters(6, 7), o)
		if len(seen) < 20 || len(seen) > 26 || r.Elapsed <= 0 {
			t.Errorf("%d reports in %v", len(seen), r.Elapsed)
		}
		for i, p := range seen {
			if p.States < int64(i+1)*10_000 || p.Queue <= 0 || p.Depth > 42 || p.Bytes <= 0 ||
				p.Transitions <= p.States || p.Rate != float64(p.States)/p.Elapsed.Seconds() {
				t.Errorf("report %d: %+v", i, p)
			}
		}
		want := []ActionCount{{"count", false, r.Transitions}}
		if diff.Diff(want, r.Actions) != "" {
			t.Errorf("actions %v", r.Actions)
		}
	}
}

func TestStrings(t *testing.T) {
	got := fmt.Sprint(Held, Broken, Undecided, Exact, Fingerprint,
		Step[int]{Who: Nobody}, Step[int]{Action: "tick", Who: Nobody}, Step[int]{Action: "poll"})
	if want := "held broken undecided exact fingerprint start tick poll 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
