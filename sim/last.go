package sim

import (
	"sync"
	"time"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// lastTime bounds the last readers of a run, virtual.
const lastTime = 5 * time.Minute

// last is the readers that run when all else is done (see [Process.Last]).
type last struct {
	until time.Time // zero before they began

	mu      sync.Mutex
	running int
}

func (l *last) began() bool { return !l.until.IsZero() }

// done reports whether they began and have all ended.
func (l *last) done() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.began() && l.running == 0
}

func (l *last) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running += n
}

// startLast starts the last readers and reports whether there was anything to start.
func (r *run) startLast(now time.Time) bool {
	if r.last.began() {
		return false
	}
	for _, p := range r.world.Processes {
		for i := range p.Replicas {
			if !p.Last {
				continue
			}
			r.last.until = now.Add(lastTime)
			r.last.add(1)
			rep := &replica{run: r, process: p, index: i}
			go func() {
				rep.supervise()
				r.last.add(-1)
				r.gate.ring()
			}()
		}
	}
	return r.last.began()
}
