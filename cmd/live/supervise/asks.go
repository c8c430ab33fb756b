package supervise

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// How long a caller waits before it asks again, as in simulation.
const (
	askAfterDeath  = time.Second     // its connection broke
	askAfterRefuse = 2 * time.Second // the answer was not "done"
	askAgain       = 500 * time.Millisecond
	handEvery      = 10 * time.Millisecond
)

// asks is what applications ask of the replicas of the first process, each again until
// it is answered done. It is safe for concurrent use.
type asks struct {
	run *run

	mu   sync.Mutex
	open []*pending
}

type pending struct {
	worlds.Ask
	replica string
	due     time.Time
	taken   *life // who works on it
}

// newAsks spreads the asks over the replicas as a load balancer does that keeps a session
// on one server. One in ten is asked again although it was done.
func newAsks(r *run) *asks {
	a := &asks{run: r}
	if !r.World.Asked {
		return a
	}
	p := r.World.Processes[0]
	rng := rand.New(rand.NewPCG(r.Schedule.Seed, 0x61_73_6b))
	began := time.Now()
	for i, v := range r.Values {
		id, _ := bus.Identify(bus.Raw(v))
		at := time.Duration(float64(i) / r.Rate * float64(time.Second))
		a.open = append(a.open, &pending{
			Ask: worlds.Ask{
				ID: id, At: at, Key: bus.KeyOf(v), Value: v, Again: rng.IntN(10) == 0,
			},
			replica: worlds.Replica(p.Name, i%p.Replicas), due: began.Add(at),
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

// hand gives each ask to its replica when it is due, until all are answered or the run is
// over.
func (a *asks) hand() {
	for {
		select {
		case <-a.run.stopping:
			return
		case <-time.After(handEvery):
		}
		running := make(map[string]*life)
		for _, l := range a.run.running() {
			running[l.replica] = l
		}
		if a.handDue(running) {
			continue
		}
		for _, l := range a.run.running() {
			l.wire.Send(proc.Message{Op: proc.SaysNoMore})
		}
		return
	}
}

// handDue hands out what is due and reports whether anything is open.
func (a *asks) handDue(running map[string]*life) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for _, p := range a.open {
		l := running[p.replica]
		if p.taken == nil && l != nil && !p.due.After(now) {
			p.taken = l
			l.wire.Send(proc.Message{Op: proc.SaysAsk, Ask: &p.Ask})
		}
	}
	return len(a.open) > 0
}

// greet tells a new life that there is nothing to ask.
func (a *asks) greet(l *life) {
	if a.idle() {
		l.wire.Send(proc.Message{Op: proc.SaysNoMore})
	}
}

// answer takes an outcome for an ask that l works on.
func (a *asks) answer(l *life, id string, o model.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
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
		return
	}
}

// orphan gives back what a dead life worked on.
func (a *asks) orphan(l *life) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.open {
		if p.taken == l {
			p.retry(askAfterDeath)
		}
	}
}

func (p *pending) retry(after time.Duration) {
	p.taken = nil
	p.due = time.Now().Add(after)
}
