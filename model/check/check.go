package check

import (
	"fmt"
	"math"
	"time"
)

// Check explores spec breadth first until every reachable state has been
// judged, a promise is broken, or a bound of o is met. It reports mistakes of
// the specification (no initial state, a state with a pointer, a Next that
// changes its argument) as Undecided with a reason. It may be called from
// several goroutines.
func Check[S comparable](spec Spec[S], o Options) Result[S] {
	o = o.filled()
	r := Result[S]{Spec: spec.Name, Engine: o.Engine, Workers: o.Workers}
	if len(spec.Init) == 0 || spec.Next == nil {
		r.Why = "the specification has no Init or no Next"
		return r
	}
	g, err := newSearch(&spec, o)
	if err != nil {
		r.Why = err.Error()
		return r
	}
	g.run()
	r.counts(g)
	if g.worst != nil {
		r.Verdict, r.Violation, r.Why = Broken, g.worst, ""
		r.tell(&spec, g)
	}
	r.Elapsed = o.elapsed()
	return r
}

func (o Options) filled() Options {
	o.Workers = max(o.Workers, 1)
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Every == 0 {
		o.Every = 1 << 20
	}
	if clock := o.Clock; clock != nil {
		start := clock()
		o.Clock = func() time.Duration { return clock() - start }
	}
	return o
}

func (r *Result[S]) counts(g *search[S]) {
	r.States, r.Transitions = g.states.Load(), g.transitions.Load()
	r.Quiescent, r.Queue = g.quiescent.Load(), g.states.Load()-g.expanded.Load()
	r.Actions = g.actions()
	r.Depth, r.Bytes, r.Why = g.depth, g.mem.most.Load(), g.why
	if g.o.Engine == Fingerprint {
		n := float64(r.States)
		r.Collision = min(n*n/math.Exp2(65), 1)
	}
	if r.Why == "" {
		r.Verdict = Held
	}
}

// tell finds the counterexample. One worker of the exact engine does it, so it
// is the same whoever found that there is one.
func (r *Result[S]) tell(spec *Spec[S], g *search[S]) {
	if g.o.Engine != Exact || g.o.Workers > 1 {
		o := g.o
		o.Engine, o.Workers, o.States = Exact, 1, 0
		g.table, g.store, g.workers = nil, nil, nil // their memory is needed
		again, err := newSearch(spec, o)
		if err != nil {
			r.Why = "no counterexample: " + err.Error()
			return
		}
		again.telling = true
		again.run()
		if again.worst == nil {
			r.Why = "no counterexample: " + again.why
			return
		}
		g, r.Violation = again, again.worst
		r.Bytes = max(r.Bytes, g.mem.most.Load())
	}
	r.Trace, r.Why = spec.tell(g.path(g.worstAt))
}

// tell finds the steps along canonical states. The states of the steps are as
// Next makes them, so the numbers of the processes mean the same all along.
func (spec *Spec[S]) tell(path []S) ([]Step[S], string) {
	var trace []Step[S]
	possible := make([]Step[S], len(spec.Init))
	for i, s := range spec.Init {
		possible[i] = Step[S]{Who: Nobody, State: s}
	}
	for i, want := range path {
		if i > 0 {
			possible = Successors(*spec, trace[i-1].State)
		}
		found := false
		for _, step := range possible {
			if found = spec.canon(step.State) == want; found {
				trace = append(trace, step)
				break
			}
		}
		if !found {
			return trace, fmt.Sprintf("the counterexample ends early: step %d is possible only "+
				"from the canonical state (Canon is wrong, or Next does not always do the same)", i)
		}
	}
	return trace, ""
}
