package check

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// search is one search, level by level: all states that are some number of
// steps away from the first, then those one step further.
type search[S comparable] struct {
	spec   *Spec[S]
	o      Options
	layout layout[S]
	mem    memory
	table  *table
	store  *store[S]

	workers []*worker[S]
	spans   []span       // the states to expand
	taken   atomic.Int64 // how many of the spans
	depth   int          // of the states to expand

	states      atomic.Int64
	transitions atomic.Int64
	quiescent   atomic.Int64
	expanded    atomic.Int64
	telling     bool // it is the second search

	ended    atomic.Bool
	mu       sync.Mutex
	why      string // it was ended
	worst    *Violation[S]
	worstAt  uint32
	reported int64 // at so many states
}

// exactMask leaves the lower half of a slot to the index of the state, plus one.
const exactMask = ^uint64(1<<32 - 1)

func newSearch[S comparable](spec *Spec[S], o Options) (*search[S], error) {
	l, err := layoutOf[S](o.Seed)
	if err != nil {
		return nil, err
	}
	l.keep <<= o.forget
	g := &search[S]{spec: spec, o: o, layout: l}
	g.mem.bound = o.Memory
	mask := ^uint64(0)
	if o.Engine == Exact {
		mask = exactMask
	}
	table, ok := newTable(mask, &g.mem)
	if !ok {
		return nil, fmt.Errorf("%d bytes of memory are too few to begin with", o.Memory)
	}
	g.table = table
	g.store = newStore(o.Engine == Exact, &g.mem, guess(spec, &l))
	for range o.Workers {
		g.workers = append(g.workers, newWorker(g))
	}
	return g, nil
}

// run searches to the end, or to a broken promise, or to a bound.
func (g *search[S]) run() {
	if !g.seed() {
		return
	}
	for len(g.spans) > 0 && !g.ended.Load() {
		if g.o.Depth > 0 && g.depth >= g.o.Depth {
			g.end(fmt.Sprintf("there is more after %d steps", g.depth))
			return
		}
		g.level()
		if g.worst != nil {
			return
		}
	}
}

// seed finds the initial states. It returns false if one breaks a promise.
func (g *search[S]) seed() bool {
	w := g.workers[0]
	w.depth = 0
	for _, s := range g.spec.Init {
		w.out.next = append(w.out.next, s)
		w.parents = append(w.parents, noParent)
	}
	w.flush()
	g.spans = w.shelf.level()
	return g.worst == nil
}

// level expands g.spans and leaves the next level there.
func (g *search[S]) level() {
	g.taken.Store(0)
	var all sync.WaitGroup
	for _, w := range g.workers[1:] {
		all.Go(w.level)
	}
	g.workers[0].level()
	all.Wait()
	g.spans = g.spans[:0]
	for _, w := range g.workers {
		g.spans = append(g.spans, w.shelf.level()...)
	}
	if len(g.spans) > 0 {
		g.depth++
	}
}

// end ends the search before its time.
func (g *search[S]) end(why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why == "" {
		g.why = why
	}
	g.ended.Store(true)
}

// broken notes a violation; the one with the fewest steps is kept.
func (g *search[S]) broken(v Violation[S], at uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.worst == nil || v.Depth < g.worst.Depth {
		g.worst, g.worstAt = &v, at
	}
}

// between is called by workers between blocks.
func (g *search[S]) between() {
	states := g.states.Load()
	if g.o.States > 0 && states >= g.o.States && !g.ended.Load() {
		g.end(fmt.Sprintf("%d states were found, of at most %d", states, g.o.States))
	}
	if g.o.Stop != nil && g.o.Stop() {
		g.end("it was stopped")
	}
	if g.o.Progress == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if states-g.reported < g.o.Every {
		return
	}
	g.reported = states
	p := Progress{
		States:      states,
		Transitions: g.transitions.Load(),
		Queue:       states - g.expanded.Load(),
		Depth:       g.depth,
		Bytes:       g.mem.held.Load(),
		Telling:     g.telling,
		Elapsed:     g.o.elapsed(),
	}
	if p.Elapsed > 0 {
		p.Rate = float64(states) / p.Elapsed.Seconds()
	}
	g.o.Progress(p)
}

// path returns the states from an initial one to the one at an index.
func (g *search[S]) path(at uint32) []S {
	var path []S
	for ; at != noParent; at = g.store.parent(at) {
		var s S
		g.store.state(at, &s)
		path = append(path, s)
	}
	slices.Reverse(path)
	return path
}

// actions adds up what the workers have counted, by name.
func (g *search[S]) actions() []ActionCount {
	all := make(map[ActionCount]int64)
	for _, w := range g.workers {
		for action, n := range w.counts {
			all[action] += n
		}
	}
	var counts []ActionCount
	for action, n := range all {
		action.Steps = n
		counts = append(counts, action)
	}
	slices.SortFunc(counts, func(a, b ActionCount) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), cmp.Compare(b.Steps, a.Steps))
	})
	return counts
}

// elapsed is the time since Check began; Check has made the clock relative.
func (o *Options) elapsed() time.Duration {
	if o.Clock == nil {
		return 0
	}
	return o.Clock()
}
