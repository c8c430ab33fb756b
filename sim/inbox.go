package sim

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// How long a caller waits before it asks again, virtual.
const (
	askAfterDeath  = time.Second     // its connection broke
	askAfterRefuse = 2 * time.Second // the answer was not "done"
	askAgain       = 500 * time.Millisecond
)

// Inbox is how a process hears of what applications ask of it, and answers. A
// caller asks until it gets a done answer: again when the process died under it,
// and again when the answer was anything else. It is safe for concurrent use.
type Inbox struct {
	asks *asks
	life *tap.Life
}

// Next returns the next ask when it is due. It returns false once every ask had
// its done answer, when ctx ends, and when the process is dead.
func (i *Inbox) Next(ctx context.Context) (Ask, bool) {
	for ctx.Err() == nil {
		ask, wait, changed := i.asks.take(i.life)
		if ask != nil {
			i.note("ask", ask.Ask, model.NoOutcome)
			return ask.Ask, true
		}
		if wait < 0 || !i.life.Alive() {
			return Ask{}, false
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return Ask{}, false
}

// Answer tells the caller what came of its ask.
func (i *Inbox) Answer(a Ask, o model.Outcome) {
	if i.asks.answer(i.life, a.ID, o) {
		i.note("answer", a, o)
	}
}

func (i *Inbox) note(op string, a Ask, o model.Outcome) {
	part := model.PartOf(a.Topic, -1)
	part.Records = []model.Record{{
		Offset: -1, ID: a.ID, Key: string(a.Key), Digest: tap.Digest(a.Value),
	}}
	i.life.Note(model.Event{Kind: model.Note, Op: op, Outcome: o, Parts: []model.Part{part}})
}

// asks is everything that applications want in one run.
type asks struct {
	mu      sync.Mutex
	open    []*pending
	changed chan struct{} // closed and replaced when open changes
}

type pending struct {
	Ask
	proc  string // whom the application asks: a replica
	due   time.Time
	taken *tap.Life // who works on it
}

// newAsks spreads the asks over the replicas of their process, as a load balancer that
// keeps a session on one server: which replica gets an ask does not depend on who is
// first.
func newAsks(start time.Time, list []Ask, processes []Process) *asks {
	a := &asks{changed: make(chan struct{})}
	replicas := make(map[string]int, len(processes))
	for _, p := range processes {
		replicas[p.Name] = p.Replicas
	}
	asked := make(map[string]int)
	for _, ask := range list {
		if ask.Process == "" {
			ask.Process = processes[0].Name
		}
		n := asked[ask.Process]
		asked[ask.Process]++
		a.open = append(a.open, &pending{
			Ask:  ask,
			proc: replicaName(ask.Process, n%max(replicas[ask.Process], 1)),
			due:  start.Add(ask.At),
		})
	}
	return a
}

// idle reports whether every ask had its done answer.
func (a *asks) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open) == 0
}

// take gives l the first ask of its replica that is due, or says how long to wait for
// one; a negative wait means that there will be none.
func (a *asks) take(l *tap.Life) (*pending, time.Duration, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) == 0 {
		return nil, -1, a.changed
	}
	if !l.Alive() {
		return nil, -1, a.changed
	}
	wait := time.Duration(math.MaxInt64)
	for _, p := range a.open {
		if p.taken != nil || p.proc != l.Proc {
			continue
		}
		left := time.Until(p.due)
		if left <= 0 {
			p.taken = l
			return p, 0, nil
		}
		wait = min(wait, left)
	}
	return nil, wait, a.changed
}

// answer takes an outcome for an ask that l works on.
func (a *asks) answer(l *tap.Life, id string, o model.Outcome) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !l.Alive() {
		return false
	}
	for i, p := range a.open {
		if p.ID != id || p.taken != l {
			continue
		}
		switch {
		case o != model.Done:
			p.retry(askAfterRefuse)
		case p.Again:
			p.Again = false
			p.retry(askAgain)
		default:
			a.open = append(a.open[:i:i], a.open[i+1:]...)
		}
		a.wake()
		return true
	}
	return false
}

// orphan gives back what a dead life worked on.
func (a *asks) orphan(l *tap.Life) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.open {
		if p.taken == l {
			p.retry(askAfterDeath)
		}
	}
	a.wake()
}

func (p *pending) retry(after time.Duration) {
	p.taken = nil
	p.due = time.Now().Add(after)
}

func (a *asks) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}
