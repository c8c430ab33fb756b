package tap

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
)

// script is a gate that a test works by hand: it records what wants to cross, in
// order, and the test settles it.
type script struct {
	mu    sync.Mutex
	came  chan struct{} // has room for as many as a test submits
	all   []*Crossing
	notes []model.Event
	auto  *Verdict // if set, what becomes of a crossing at once
}

func newScript() *script { return &script{came: make(chan struct{}, 1<<16)} }

// passing is a gate that lets everything through at once, as live mode's does.
func passing() *script {
	g := newScript()
	g.auto = &Verdict{}
	return g
}

func (g *script) Submit(c *Crossing) {
	g.mu.Lock()
	g.all = append(g.all, c)
	auto := g.auto
	g.mu.Unlock()
	if auto != nil {
		c.Settle(*auto)
	}
	g.came <- struct{}{}
}

func (g *script) Note(_ *Life, e model.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes = append(g.notes, e)
}

// next waits for the next crossing that the test has not looked at.
func (g *script) next() *Crossing {
	<-g.came
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.all[0]
	g.all = g.all[1:]
	return c
}

// pass lets the next crossing through and returns it.
func (g *script) pass() *Crossing { return g.settle(Verdict{}) }

func (g *script) settle(v Verdict) *Crossing {
	c := g.next()
	c.Settle(v)
	return c
}

// idle wants nothing at the gate.
func (g *script) idle(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.all {
		t.Errorf("still at the gate: %s", said(c.Event))
	}
}

// noted wants the notes, and forgets them.
func (g *script) noted(t *testing.T, want ...string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	var got []string
	for _, e := range g.notes {
		got = append(got, said(e))
	}
	g.notes = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
