package specs

import (
	"fmt"
	"time"

	"github.com/hopcheck/hopcheck/model/check"
)

// Report is what a check of a specification found, whatever its states are: the
// counts of [check.Result], and the counterexample in words.
type Report struct {
	Spec string `json:"spec"`
	Bug  string `json:"bug,omitempty"`
	Set  Values `json:"set"` // every parameter

	Verdict string `json:"verdict"` // "held", "broken" or "undecided"
	// Why is why it is undecided, or why a counterexample is missing.
	Why string `json:"why,omitempty"`

	States      int64   `json:"states"`
	Transitions int64   `json:"transitions"`
	Quiescent   int64   `json:"quiescent"`
	Queue       int64   `json:"queue"`
	Depth       int     `json:"depth"`
	Actions     []Taken `json:"actions,omitempty"` // if asked for

	Engine    string  `json:"engine"`
	Workers   int     `json:"workers"`
	Bytes     int64   `json:"bytes"`
	Collision float64 `json:"collision"`
	Seconds   float64 `json:"seconds"` // 0 without a clock
	Rate      float64 `json:"rate"`    // states a second; 0 without a clock

	// Broken says what is broken, "" where nothing is. Promise is "always" or
	// "quiescent".
	Broken  string `json:"broken,omitempty"`
	Promise string `json:"promise,omitempty"`
	// Steps are the shortest counterexample, without its first state.
	Steps []Step `json:"steps,omitempty"`
	// Liftable says that the counterexample is also a schedule, for the mutant of the
	// bug: Lifted are its lines, none where nothing has to go wrong. LiftedEnd is one
	// more, a crash just after the last step, where a promise is broken in a state that
	// may pass; "" where it is broken for good.
	Liftable  bool     `json:"liftable,omitempty"`
	Lifted    []string `json:"lifted,omitempty"`
	LiftedEnd string   `json:"lifted_end,omitempty"`
	Mutant    string   `json:"mutant,omitempty"`
}

// Taken is how often an action was taken in a search.
type Taken struct {
	Action string `json:"action"`
	Fault  bool   `json:"fault,omitempty"`
	Steps  int64  `json:"steps"`
}

// Step is one step of a counterexample.
type Step struct {
	N      int    `json:"n"` // from 1
	Action string `json:"action"`
	Who    int    `json:"who"` // check.Nobody if there is none
	Fault  bool   `json:"fault,omitempty"`
	Says   string `json:"says"`  // in the words of the hop
	State  string `json:"state"` // after the step
}

// String returns the step as a line: "3. landing/0 puts offset 1".
func (s Step) String() string {
	mark := ""
	if s.Fault {
		mark = " (fault)"
	}
	return fmt.Sprintf("%d. %s%s", s.N, s.Says, mark)
}

func (p protocol[S]) report(v Values, b Bug, r check.Result[S]) Report {
	out := Report{
		Spec: p.Name, Bug: b.Name, Set: v, Verdict: r.Verdict.String(), Why: r.Why,
		States: r.States, Transitions: r.Transitions, Quiescent: r.Quiescent,
		Queue: r.Queue, Depth: r.Depth,
		Engine: r.Engine.String(), Workers: r.Workers, Bytes: r.Bytes, Collision: r.Collision,
		Seconds: r.Elapsed.Seconds(),
	}
	if r.Elapsed > time.Microsecond {
		out.Rate = float64(r.States) / r.Elapsed.Seconds()
	}
	for _, a := range r.Actions {
		out.Actions = append(out.Actions, Taken(a))
	}
	if r.Violation == nil {
		return out
	}
	out.Broken, out.Promise = r.Violation.Err.Error(), string(r.Violation.Promise)
	out.Mutant = b.Mutant
	for i := range r.Trace {
		if i == 0 {
			continue
		}
		step := &r.Trace[i]
		out.Steps = append(out.Steps, Step{
			N: i, Action: step.Action, Who: step.Who, Fault: step.Fault,
			Says: p.say(&r.Trace[i-1].State, step), State: p.show(&step.State),
		})
	}
	if p.lift != nil && len(r.Trace) > 0 {
		l := p.lift(b.Name, r.Trace)
		out.Liftable, out.Lifted = true, l.faults
		if r.Violation.Promise == check.Always {
			out.LiftedEnd = l.end
		}
	}
	return out
}
