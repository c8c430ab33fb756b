package check

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

// tiny is a space that is written down: a node, and padding around it.
type tiny struct {
	Node uint8
	Twin uint32 // the node again
}

func node(n int) tiny { return tiny{uint8(n), uint32(n)} }

// arc is a step of a tiny space.
type arc struct {
	to    int
	fault bool
}

// space is a tiny graph with the nodes that break each promise. Nothing of the
// engine is in it.
type space struct {
	init     []int
	arcs     [][]arc // by node
	never    int     // bits: Always breaks here
	restless int     // bits: Quiescent breaks here
}

func (sp space) spec() Spec[tiny] {
	spec := Spec[tiny]{
		Name: "tiny",
		Next: func(c *Out[tiny], s *tiny) {
			for i, a := range sp.arcs[s.Node] {
				say := c.Do
				if a.fault {
					say = c.Fault
				}
				*say("to", i) = node(a.to)
			}
		},
		Always:    func(s *tiny) error { return breaks(sp.never, s) },
		Quiescent: func(s *tiny) error { return breaks(sp.restless, s) },
	}
	for _, n := range sp.init {
		spec.Init = append(spec.Init, node(n))
	}
	return spec
}

func breaks(bits int, s *tiny) error {
	if bits>>s.Node&1 == 1 {
		return errors.New("it does not")
	}
	return nil
}

// known is what is to be found out about a space.
type known struct {
	States, Transitions, Quiescent, Queue int64
	Depth                                 int
	Broken                                Promise
	At                                    int // steps to the violation
}

// naive is the search as a first course teaches it: a map of levels.
func (sp space) naive() known {
	var k known
	seen := make(map[int]int)
	var level []int
	look := func(n, depth int) {
		if _, ok := seen[n]; ok {
			return
		}
		seen[n] = depth
		level = append(level, n)
		k.Depth = depth
		if sp.never>>n&1 == 1 && k.Broken == "" {
			k.Broken, k.At = Always, depth
		}
	}
	for _, n := range sp.init {
		look(n, 0)
	}
	expanded := 0
	for depth := 0; len(level) > 0 && k.Broken == ""; depth++ {
		now := level
		level = nil
		for _, n := range now {
			rest := true
			for _, a := range sp.arcs[n] {
				k.Transitions++
				rest = rest && (a.fault || a.to == n)
				look(a.to, depth+1)
			}
			expanded++
			if !rest {
				continue
			}
			k.Quiescent++
			if sp.restless>>n&1 == 1 && (k.Broken == "" || k.At > depth) {
				k.Broken, k.At = Quiescent, depth
			}
		}
	}
	k.States = int64(len(seen))
	k.Queue = int64(len(seen) - expanded)
	return k
}

func of(r Result[tiny]) known {
	k := known{r.States, r.Transitions, r.Quiescent, r.Queue, r.Depth, "", 0}
	if r.Violation != nil {
		k.Broken, k.At = r.Violation.Promise, r.Violation.Depth
	}
	return k
}

func compare(t *testing.T, sp space, o Options) {
	t.Helper()
	r := Check(sp.spec(), o)
	if d := diff.Diff(sp.naive(), of(r)); d != "" {
		t.Fatalf("%+v with %s and %d workers (-naive +engine)\n%s", sp, o.Engine, o.Workers, d)
	}
	if (r.Verdict == Broken) != (r.Violation != nil) || r.Verdict == Undecided {
		t.Fatalf("%+v: verdict %s with %v, %s", sp, r.Verdict, r.Violation, r.Why)
	}
	if r.Violation != nil {
		follow(t, sp.spec(), r)
	}
}

// follow walks a counterexample step by step.
func follow[S comparable](t *testing.T, spec Spec[S], r Result[S]) {
	t.Helper()
	if len(r.Trace) != r.Violation.Depth+1 {
		t.Fatalf("%d steps to depth %d", len(r.Trace)-1, r.Violation.Depth)
	}
	if !slices.Contains(spec.Init, r.Trace[0].State) {
		t.Fatalf("the trace begins with %+v", r.Trace[0])
	}
	for i, step := range r.Trace[1:] {
		if !slices.Contains(Successors(spec, r.Trace[i].State), step) {
			t.Fatalf("step %d, %+v, is not possible", i+1, step)
		}
	}
	last := r.Trace[len(r.Trace)-1].State
	promise := spec.Always
	if r.Violation.Promise == Quiescent {
		promise = spec.Quiescent
		for _, step := range Successors(spec, last) {
			if !step.Fault && step.State != last {
				t.Fatalf("the trace ends where %s is possible", step)
			}
		}
	}
	if promise(&last) == nil {
		t.Fatalf("the trace ends in %+v, which keeps its promise", last)
	}
}

// TestEverySpaceOfThree compares the engines with the naive search on every
// space of three nodes: between any two nothing, an action or a fault.
func TestEverySpaceOfThree(t *testing.T) {
	const nodes, spaces = 3, 19683 // 3 to the power of 9
	for i := range spaces {
		sp := space{init: []int{0}, arcs: make([][]arc, nodes)}
		for pair, rest := 0, i; pair < nodes*nodes; pair, rest = pair+1, rest/3 {
			if kind := rest % 3; kind > 0 {
				from := pair / nodes
				sp.arcs[from] = append(sp.arcs[from], arc{pair % nodes, kind == 2})
			}
		}
		sp.never, sp.restless = i%3&1<<2, i%5
		compare(t, sp, Options{Engine: Engine(i % 2), Workers: 1 + i%3/2})
	}
}

// drawn is a space of up to 64 nodes.
func drawn(r *rand.Rand) space {
	nodes := 1 + r.IntN(64)
	sp := space{arcs: make([][]arc, nodes)}
	for range 1 + r.IntN(3) {
		sp.init = append(sp.init, r.IntN(nodes))
	}
	few := 1 + r.IntN(4)
	for n := range sp.arcs {
		for range r.IntN(few) {
			sp.arcs[n] = append(sp.arcs[n], arc{r.IntN(nodes), r.IntN(3) == 0})
		}
	}
	for range r.IntN(3) {
		sp.never |= 1 << r.IntN(nodes)
		sp.restless |= 1 << r.IntN(nodes)
	}
	return sp
}

func TestDrawnSpaces(t *testing.T) {
	for seed := range uint64(3000) {
		sp := drawn(rand.New(rand.NewPCG(seed, 1)))
		compare(t, sp, Options{Engine: Engine(seed % 2), Workers: 1 + int(seed%3), Seed: seed})
	}
}

func FuzzSpaces(f *testing.F) {
	f.Add(uint64(1), uint64(0))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		sp := drawn(rand.New(rand.NewPCG(a, b)))
		compare(t, sp, Options{Engine: Engine(a % 2), Workers: 1 + int(b%4), Seed: b})
	})
}

// TestGraphIsWhatCheckSees compares the graph with the naive search.
func TestGraphIsWhatCheckSees(t *testing.T) {
	for seed := range uint64(300) {
		sp := drawn(rand.New(rand.NewPCG(seed, 2)))
		sp.never, sp.restless = 0, 0
		g, err := Reachable(sp.spec(), 64)
		if err != nil {
			t.Fatal(err)
		}
		k := sp.naive()
		if int64(len(g.States)) != k.States || int64(len(g.Edges)) != k.Transitions {
			t.Fatalf("%+v: %d states and %d edges, want %+v", sp, len(g.States), len(g.Edges), k)
		}
		ordered := func(a, b Edge) int { return cmp.Compare(a.From, b.From) }
		if !slices.IsSortedFunc(g.Edges, ordered) {
			t.Fatalf("edges out of order: %v", g.Edges)
		}
		if _, err := Reachable(sp.spec(), int(k.States)-1); err == nil {
			t.Fatalf("%d states within a bound of one less", k.States)
		}
	}
}
