package check

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// room is processes that can be exchanged, and who holds the lock.
type room struct {
	Procs [4]uint8 // 0 outside, 1 waits, 2 has been inside
	Epoch uint8    // counts up; only whether it is odd matters
}

// lockers is a lock that may be broken: the last but one to enter finds it open.
func lockers(broken bool) Spec[room] {
	return Spec[room]{
		Name: "lockers",
		Init: []room{{}},
		Next: func(c *Out[room], s *room) {
			for p, v := range s.Procs {
				switch {
				case v == 0:
					n := c.Do("wait", p)
					n.Procs[p] = 1
				case v == 1 && s.Epoch%2 == 0:
					n := c.Do("enter", p)
					n.Procs[p] = 2
					n.Epoch = (n.Epoch + 1) % 40
				}
			}
			if s.Epoch%2 == 1 {
				n := c.Do("open", Nobody)
				n.Epoch = (n.Epoch + 1) % 40
			}
		},
		Always: func(s *room) error {
			if broken && s.Procs == [4]uint8{2, 2, 2, 2} && s.Epoch%2 == 1 {
				return errors.New("all are inside")
			}
			return nil
		},
		Quiescent: func(s *room) error {
			if s.Procs != [4]uint8{2, 2, 2, 2} {
				return errors.New("somebody waits for ever")
			}
			return nil
		},
	}
}

// alike sorts the processes and forgets how often the lock was taken.
func alike(s *room) {
	slices.Sort(s.Procs[:])
	s.Epoch %= 2
}

func TestCanonReducesAndKeepsVerdicts(t *testing.T) {
	for _, o := range each {
		for _, broken := range []bool{false, true} {
			spec := lockers(broken)
			whole := Check(spec, o)
			spec.Canon = alike
			fewer := Check(spec, o)
			if whole.Verdict != fewer.Verdict || whole.Depth != fewer.Depth {
				t.Errorf("%s and with Canon %s", whole.Verdict, fewer.Verdict)
			}
			if fewer.States*3 > whole.States {
				t.Errorf("%d states, with Canon %d", whole.States, fewer.States)
			}
			if g, err := Reachable(spec, 1000); err != nil || !broken &&
				int64(len(g.States)) != fewer.States {
				t.Errorf("the graph has %d states, the search %d", len(g.States), fewer.States)
			}
			if broken {
				// Without Canon: the steps are those of the specification itself.
				spec.Canon = nil
				follow(t, spec, fewer)
				if last := fewer.Trace[len(fewer.Trace)-1]; last.State.Epoch < 7 {
					t.Errorf("the trace ends in %+v, not as Next makes it", last)
				}
			}
		}
	}
}

// TestCanonThatIsWrong merges states that do not behave alike: a process that
// waits with one that was inside.
func TestCanonThatIsWrong(t *testing.T) {
	spec := lockers(true)
	spec.Canon = func(s *room) {
		if s.Procs[0] == 1 {
			s.Procs[0] = 2
		}
		alike(s)
	}
	r := Check(spec, Options{})
	if r.Verdict != Broken || !strings.Contains(r.Why, "Canon is wrong") ||
		len(r.Trace) == 0 || len(r.Trace) > r.Violation.Depth {
		t.Errorf("%s with %d steps to depth %d, %q", r.Verdict, len(r.Trace),
			r.Violation.Depth, r.Why)
	}
}

// TestAtRest tells rest from being stuck: a crash is always possible here, and a
// poll that finds nothing changes nothing.
func TestAtRest(t *testing.T) {
	type state struct{ Read, Crashes uint8 }
	read := func(poll, wait bool) Spec[state] {
		return Spec[state]{
			Init: []state{{}},
			Next: func(c *Out[state], s *state) {
				c.Fault("crash", 0).Crashes ^= 1
				if s.Read < 3 {
					c.Do("read", 0).Read++
				} else if poll {
					c.Do("poll", 0)
				} else if wait {
					c.Do("wait", 0).Crashes ^= 1
				}
			},
			Quiescent: func(s *state) error {
				if s.Read == 3 {
					return errors.New("three were read")
				}
				return nil
			},
		}
	}
	for _, o := range each {
		for _, poll := range []bool{false, true} {
			r := Check(read(poll, false), o)
			if r.Verdict != Broken || r.Violation.Promise != Quiescent || r.Violation.Depth != 3 ||
				r.Violation.Err.Error() != "three were read" {
				t.Errorf("poll %v: %s, %+v", poll, r.Verdict, r.Violation)
			}
		}
		r := Check(read(false, true), o)
		if r.Verdict != Held || r.Quiescent != 0 || r.States != 8 {
			t.Errorf("what goes on for ever is at rest: %+v", r)
		}
	}
}
