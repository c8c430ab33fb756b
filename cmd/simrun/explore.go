package main

import (
	"context"
	"errors"
	"time"

	"github.com/hopcheck/hopcheck/sim"
)

// survey is the exploration of one scene by a fleet. Of its subject it fills in the
// failure and the events.
type survey struct {
	*subject
	bound int // most faults of a schedule
	limit int // most schedules; 0: all
	verbs []string
	shard shard
	watch func(*survey) // called when something is known that was not; may be nil

	ctx    context.Context
	err    error
	cut    bool // it was interrupted
	began  time.Time
	phase  int                      // faults of the schedules that run now
	of     [sim.MaxExplored + 1]int // how many schedules there are, this shard's
	swaths []*swath                 // in the order of the enumeration
	given  int                      // schedules given out
}

// swath is a part of a survey that one worker does.
type swath struct {
	explored
	faults, size int // of each schedule; how many schedules
	done         bool
	began        time.Time
	wall         time.Duration
	cancel       context.CancelFunc
}

// carryOut runs the survey on a fleet: the schedule without faults, those of one, those
// of two. The next are begun when all before are done.
func (s *survey) carryOut(ctx context.Context, f *fleet) error {
	s.ctx, s.began = ctx, time.Now()
	plain := true
	f.run(func() *task {
		if !plain {
			return nil
		}
		plain = false
		return s.task(0, 1, nil)
	})
	for s.phase = 1; s.phase <= s.bound && s.complete(); s.phase++ {
		f.run(s.phaseOf())
	}
	s.cut = ctx.Err() != nil
	if s.err != nil || s.failed == none {
		return s.err
	}
	return s.open()
}

// over reports whether no more schedules are to be given out.
func (s *survey) over() bool {
	return s.err != nil || s.failed != none || s.ctx.Err() != nil || s.full()
}

func (s *survey) full() bool { return s.limit > 0 && s.given >= s.limit }

// complete reports whether all schedules of fewer faults than the present phase's were
// run, and held: only then it is known how many there are of so many.
func (s *survey) complete() bool {
	given := 0
	for _, b := range s.swaths {
		if !b.done || b.Failure != nil {
			return false
		}
		if b.faults == s.phase-1 {
			given += b.size
		}
	}
	return s.err == nil && given >= s.of[s.phase-1]
}

// phaseOf returns what gives out the schedules of the present phase.
func (s *survey) phaseOf() func() *task {
	c := cutter{next: s.next(s.phase - 1)}
	for _, n := range c.next {
		s.of[s.phase] += n.Of
	}
	if s.phase == 1 {
		s.of[1] = order{schedules: s.of[1], shard: s.shard}.wanted()
		return s.batches(&c)
	}
	// What follows a fault is one worker's: it may not be the same in another one. The
	// pairs are of the shard of their first fault.
	return func() *task {
		if s.over() {
			return nil
		}
		parts, size := c.wholes(batchSize, s.left())
		return s.task(s.phase, size, parts)
	}
}

// batches returns what gives out this shard's batches of single faults.
func (s *survey) batches(c *cutter) func() *task {
	number := 0
	return func() *task {
		for ; !s.over(); number++ {
			mine, most := number%s.shard.n == s.shard.i-1, batchSize
			if mine && s.limit > 0 {
				most = min(most, s.left())
			}
			parts, size := c.cut(most)
			if size == 0 {
				return nil
			}
			if mine {
				number++
				return s.task(s.phase, size, parts)
			}
		}
		return nil
	}
}

// left is how many schedules the limit leaves; 0: there is no limit.
func (s *survey) left() int { return max(0, s.limit-s.given) }

// next returns what can be added to the schedules of so many faults.
func (s *survey) next(faults int) []following {
	var all []following
	for _, b := range s.swaths {
		if b.faults == faults {
			all = append(all, b.Next...)
		}
	}
	return all
}

// cutter cuts what follows faults into parts for workers.
type cutter struct {
	next     []following
	at, from int
}

// cut returns the next so many schedules, fewer at the end.
func (c *cutter) cut(most int) (parts []portion, size int) {
	for c.at < len(c.next) && size < most {
		n := c.next[c.at]
		to := min(n.Of, c.from+most-size)
		if to > c.from {
			parts = append(parts, portion{following: n, From: c.from, To: to})
			size += to - c.from
		}
		if c.from = to; to == n.Of {
			c.at, c.from = c.at+1, 0
		}
	}
	return parts, size
}

// wholes is cut for what must not be divided: at least so many schedules, or all that
// are left, but no more than the limit where there is one.
func (c *cutter) wholes(least, limit int) (parts []portion, size int) {
	most := 0
	for _, n := range c.next[c.at:] {
		if most += n.Of; most >= least {
			break
		}
	}
	if limit > 0 {
		most = min(most, limit)
	}
	return c.cut(most)
}

// task is so many schedules of so many faults as a task; nil for none.
func (s *survey) task(faults, size int, parts []portion) *task {
	if size == 0 {
		return nil
	}
	b := &swath{faults: faults, size: size, began: time.Now()}
	b.tally = newTally()
	number := len(s.swaths)
	s.swaths = append(s.swaths, b)
	s.given += size
	t := &task{
		job: job{
			scene: s.scene, Target: s.target, Seed: s.seed,
			Explore: &exploration{Bound: s.bound, Verbs: s.verbs, Parts: parts},
		},
		progress: func(now tally) {
			b.tally = now
			s.tell()
		},
		done: func(m message, err error) { s.take(number, m, err) },
	}
	t.ctx, b.cancel = context.WithCancel(s.ctx)
	return t
}

// take takes what a worker found into account.
func (s *survey) take(number int, m message, err error) {
	b := s.swaths[number]
	b.wall = time.Since(b.began)
	b.cancel()
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err == nil && m.Explored == nil:
		err = errors.New("a worker sent the answer to another question")
		fallthrough
	case err != nil:
		if s.err == nil {
			s.err = notRun("%w", err)
		}
		s.stopFrom(0)
		return
	}
	b.explored, b.done = *m.Explored, true
	b.size += b.Recount
	s.of[b.faults] += b.Recount
	if b.faults == 0 {
		s.events, s.of[0] = b.Events, 1
		if s.shard.i > 1 && b.Failure == nil {
			// The first shard counts it.
			b.tally, b.size, s.of[0], s.given = newTally(), 0, 0, 0
		}
	}
	if b.Failure != nil && number < s.failed {
		s.failed = number
		s.stopFrom(number + 1)
	}
	s.tell()
}

func (s *survey) stopFrom(number int) {
	for _, b := range s.swaths[number:] {
		b.cancel()
	}
}

func (s *survey) tell() {
	if s.watch != nil {
		s.watch(s)
	}
}

// open unpacks the failure.
func (s *survey) open() error {
	f, err := s.swaths[s.failed].Failure.open(s.world)
	if err != nil {
		return notRun("%w", err)
	}
	for _, b := range s.swaths[:s.failed] {
		f.Nth += b.Schedules
	}
	s.failure = f
	return nil
}

// sum is what a survey comes to.
type sum struct {
	tally
	ran        [sim.MaxExplored + 1]int // schedules of so many faults
	idle, lost int
	wall       time.Duration
}

// sum adds up the swaths in order, up to the one that broke a promise.
func (s *survey) sum() sum {
	t := sum{tally: newTally()}
	for i, b := range s.swaths {
		if i > s.failed {
			break
		}
		t.add(b.tally)
		t.ran[b.faults] += b.Schedules
		t.idle += b.Idle
		t.lost += b.Lost
		t.wall += b.wall
	}
	return t
}

// exhausted says that every schedule there is, of this shard, was run, and none broke a
// promise.
func (s *survey) exhausted() bool {
	t := s.sum()
	for n := range s.bound + 1 {
		if t.ran[n] < s.of[n] {
			return false
		}
	}
	return s.failed == none && s.err == nil && t.lost == 0 && len(s.swaths) > 0 && s.swaths[0].done
}
