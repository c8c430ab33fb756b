package check_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hopcheck/hopcheck/model/check"
)

// copier is a consumer that copies records to a store. It may crash once, and
// goes on where its group has committed.
type copier struct {
	Read      uint8    // next record to read
	Hand      uint8    // records read since the last copy, waiting to be stored
	Committed uint8    // next offset of the group
	Stored    [2]uint8 // how often each record was stored
	Crashed   bool
}

// copierSpec is the copier with two records. It stores and commits, or commits
// and stores.
func copierSpec(commitFirst bool) check.Spec[copier] {
	return check.Spec[copier]{
		Name: "copier",
		Init: []copier{{}},
		Next: func(c *check.Out[copier], s *copier) {
			if s.Hand == 0 && s.Read < 2 {
				n := c.Do("poll", 0)
				n.Read, n.Hand = s.Read+1, 1
			}
			if s.Hand == 1 && (s.Committed == s.Read || !commitFirst) {
				n := c.Do("store", 0)
				n.Stored[s.Read-1]++
				n.Hand = 0
			}
			if s.Committed < s.Read && (s.Hand == 0 || commitFirst) {
				n := c.Do("commit", 0)
				n.Committed = s.Read
			}
			if !s.Crashed {
				n := c.Fault("crash", 0)
				n.Crashed, n.Read, n.Hand = true, s.Committed, 0
			}
		},
		Quiescent: func(s *copier) error {
			for i, times := range s.Stored {
				if times == 0 {
					return fmt.Errorf("record %d is lost", i)
				}
			}
			return nil
		},
	}
}

// A specification of one's own: the commands of a consumer, each behind its
// guard, and the promise that no record is lost. Committing before storing
// breaks it.
func Example() {
	r := check.Check(copierSpec(false), check.Options{})
	fmt.Println("store first:", r.Verdict, "in", r.States, "states")

	r = check.Check(copierSpec(true), check.Options{})
	fmt.Println("commit first:", r.Verdict, "since", r.Violation.Err)
	for i, step := range r.Trace {
		fmt.Printf("%d. %-8s %+v\n", i, step, step.State)
	}
	// Output:
	// store first: held in 40 states
	// commit first: broken since record 1 is lost
	// 0. start    {Read:0 Hand:0 Committed:0 Stored:[0 0] Crashed:false}
	// 1. poll 0   {Read:1 Hand:1 Committed:0 Stored:[0 0] Crashed:false}
	// 2. commit 0 {Read:1 Hand:1 Committed:1 Stored:[0 0] Crashed:false}
	// 3. store 0  {Read:1 Hand:0 Committed:1 Stored:[1 0] Crashed:false}
	// 4. poll 0   {Read:2 Hand:1 Committed:1 Stored:[1 0] Crashed:false}
	// 5. commit 0 {Read:2 Hand:1 Committed:2 Stored:[1 0] Crashed:false}
	// 6. crash 0  {Read:2 Hand:0 Committed:2 Stored:[1 0] Crashed:true}
}

// A promise that holds in every state, and one that is too strong: a repeat is
// what a crash between store and commit costs.
func ExampleCheck() {
	spec := copierSpec(false)
	spec.Always = func(s *copier) error {
		if s.Stored[0] > 1 {
			return errors.New("record 0 is stored twice")
		}
		return nil
	}
	r := check.Check(spec, check.Options{Engine: check.Exact})
	fmt.Println(r.Verdict, "after", r.Violation.Depth, "steps:", r.Violation.Err)
	for _, step := range r.Trace {
		fmt.Println(step)
	}
	// Output:
	// broken after 5 steps: record 0 is stored twice
	// start
	// poll 0
	// store 0
	// crash 0
	// poll 0
	// store 0
}

// A search with bounds, that says how far it is. Library code has no clock of
// its own.
func ExampleOptions() {
	began := time.Now()
	r := check.Check(copierSpec(false), check.Options{
		Workers: 2,
		Memory:  64 << 20,
		States:  1_000_000,
		Clock:   func() time.Duration { return time.Since(began) },
		Every:   10,
		Progress: func(p check.Progress) {
			_ = fmt.Sprintf("%d states, %.0f a second, %d queued, depth %d",
				p.States, p.Rate, p.Queue, p.Depth)
		},
		Actions: true,
	})
	fmt.Println(r.Verdict)
	for _, a := range r.Actions {
		fmt.Println(a.Action, a.Steps)
	}
	// Output:
	// held
	// commit 13
	// crash 9
	// poll 13
	// store 13
}

// Canon puts states together that behave alike: two readers whose names do not
// matter.
func ExampleSpec_canon() {
	spec := check.Spec[[2]uint8]{
		Init: make([][2]uint8, 1),
		Next: func(c *check.Out[[2]uint8], s *[2]uint8) {
			for p := range s {
				if s[p] < 9 {
					n := c.Do("read", p)
					n[p]++
				}
			}
		},
	}
	fmt.Println(check.Check(spec, check.Options{}).States)
	spec.Canon = func(s *[2]uint8) {
		if s[0] > s[1] {
			s[0], s[1] = s[1], s[0]
		}
	}
	fmt.Println(check.Check(spec, check.Options{}).States)
	// Output:
	// 100
	// 55
}

// What is possible in one state: a recorded run is a behaviour of the
// specification if each of its events is one of these.
func ExampleSuccessors() {
	s := copier{Read: 1, Hand: 1}
	for _, step := range check.Successors(copierSpec(false), s) {
		fmt.Println(step, "fault:", step.Fault)
	}
	// Output:
	// store 0 fault: false
	// crash 0 fault: true
}

// All states and steps, for Graphviz.
func ExampleReachable() {
	spec := copierSpec(false)
	spec.Init = []copier{{Read: 1, Committed: 1, Stored: [2]uint8{1, 0}, Crashed: true}}
	g, err := check.Reachable(spec, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	label := func(s *copier) string { return fmt.Sprintf("read %d, stored %v", s.Read, s.Stored) }
	if err := g.WriteDOT(os.Stdout, label); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph "copier" {
	// 	node [shape=box]
	// 	0 [label="read 1, stored [1 0]", style=bold]
	// 	1 [label="read 2, stored [1 0]"]
	// 	2 [label="read 2, stored [1 1]"]
	// 	3 [label="read 2, stored [1 1]"]
	// 	0 -> 1 [label="poll 0"]
	// 	1 -> 2 [label="store 0"]
	// 	2 -> 3 [label="commit 0"]
	// }
}
