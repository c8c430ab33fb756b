package check

import "fmt"

// Check explores spec breadth first until every reachable state has been
// judged, a promise is broken, or a bound of o is met. It reports mistakes of
// the specification (no initial state, a Next that changes its argument) as
// Undecided with a reason. It may be called from several goroutines.
func Check[S comparable](spec Spec[S], o Options) Result[S] {
	r := Result[S]{Spec: spec.Name, Engine: o.Engine, Workers: max(o.Workers, 1)}
	if len(spec.Init) == 0 || spec.Next == nil {
		r.Why = "the specification has no Init or no Next"
		return r
	}
	w := walk[S]{spec: spec, o: o, r: &r, seen: map[S]int{}}
	w.run()
	return r
}

// walk is one search: states in the order in which they were found.
type walk[S comparable] struct {
	spec    Spec[S]
	o       Options
	r       *Result[S]
	seen    map[S]int
	states  []S
	parents []int
	worst   int // the state that breaks a promise
}

func (w *walk[S]) run() {
	for _, s := range w.spec.Init {
		w.found(w.spec.canon(s), -1, 0)
	}
	for depth, from := 0, 0; from < len(w.states); depth++ {
		to := len(w.states)
		w.r.Depth = depth
		if w.r.Violation != nil && w.r.Violation.Depth == depth {
			break
		}
		if w.o.Depth > 0 && depth >= w.o.Depth {
			w.r.Why = fmt.Sprintf("more than %d steps", w.o.Depth)
			w.r.Queue = int64(to - from)
			break
		}
		for ; from < to; from++ {
			if !w.expand(from, depth) {
				return
			}
		}
		if v := w.r.Violation; v != nil && v.Depth == depth {
			break
		}
	}
	w.r.States = int64(len(w.states))
	switch {
	case w.r.Violation != nil:
		w.r.Verdict = Broken
		w.trace()
	case w.r.Why == "":
		w.r.Verdict = Held
	}
}

func (w *walk[S]) found(s S, parent, depth int) {
	if _, ok := w.seen[s]; ok {
		return
	}
	w.seen[s] = len(w.states)
	w.states = append(w.states, s)
	w.parents = append(w.parents, parent)
	w.r.Depth = max(w.r.Depth, depth)
	if w.spec.Always != nil {
		if err := w.spec.Always(&s); err != nil {
			w.broken(Always, err, len(w.states)-1, depth)
		}
	}
}

func (w *walk[S]) broken(p Promise, err error, at, depth int) {
	if v := w.r.Violation; v == nil || depth < v.Depth {
		w.r.Violation = &Violation[S]{Promise: p, Err: err, State: w.states[at], Depth: depth}
		w.worst = at
	}
}

func (w *walk[S]) expand(at, depth int) bool {
	s := w.states[at]
	c := Out[S]{from: &s}
	w.spec.Next(&c, &s)
	if s != w.states[at] {
		w.r.Why = "Next changes the state that it is given: edit the copy that Do returns"
		return false
	}
	rest := true
	for _, step := range c.steps {
		w.r.Transitions++
		rest = rest && (step.Fault || step.State == s)
		w.found(w.spec.canon(step.State), at, depth+1)
	}
	if rest {
		w.r.Quiescent++
		if w.spec.Quiescent != nil {
			if err := w.spec.Quiescent(&s); err != nil {
				w.broken(Quiescent, err, at, depth)
			}
		}
	}
	return true
}

func (w *walk[S]) trace() {
	var path []S
	for at := w.worst; at >= 0; at = w.parents[at] {
		path = append([]S{w.states[at]}, path...)
	}
	w.r.Trace, w.r.Why = w.spec.tell(path)
}

// tell finds the steps along canonical states. The states of the steps are as
// Next makes them, so the numbers of the processes mean the same all along.
func (spec *Spec[S]) tell(path []S) ([]Step[S], string) {
	var trace []Step[S]
	options := make([]Step[S], len(spec.Init))
	for i, s := range spec.Init {
		options[i] = Step[S]{Who: Nobody, State: s}
	}
	for i, want := range path {
		if i > 0 {
			options = Successors(*spec, trace[i-1].State)
		}
		found := false
		for _, step := range options {
			if found = spec.canon(step.State) == want; found {
				trace = append(trace, step)
				break
			}
		}
		if !found {
			return trace, fmt.Sprintf("Canon is wrong, or Next does not always do the same: "+
				"step %d of the counterexample is possible only from the canonical state", i)
		}
	}
	return trace, ""
}
