package main

import (
	"context"
	"errors"
	"time"

	"github.com/hopcheck/hopcheck/sim"
)

// order is a hunt before it begins: what is hunted, and how long.
type order struct {
	subjects  []*subject
	schedules int       // of each subject; 0: as many as there is time for
	until     time.Time // zero: no end
	shard     shard
	cut       bool // it was interrupted
}

// subject is one scene that a hunt runs under random schedules until a promise
// breaks.
type subject struct {
	scene
	world  sim.World
	target string // the one promise that counts; "": any
	seed   uint64

	batches []*batch // in the order of their numbers
	events  []string // boundary events of a run without faults
	failed  int      // the lowest batch that broke a promise, or none
	failure *sim.Failure
}

const none = int(^uint(0) >> 1)

func newSubject(s scene, target string, seed uint64) (*subject, error) {
	w, err := s.build()
	if err != nil {
		return nil, exit{statusWrongUse, err}
	}
	return &subject{scene: s, world: w, target: target, seed: seed, failed: none}, nil
}

// batch is a part of a subject's campaign.
type batch struct {
	number, size int
	campaign
	done   bool
	began  time.Time
	wall   time.Duration
	cancel context.CancelFunc
}

// hunt is an order while it is carried out.
type hunt struct {
	order
	ctx    context.Context
	cancel context.CancelFunc
	watch  func(*hunt) // called when something is known that was not; may be nil
	began  time.Time
	err    error

	round, at int // the next batch to give out, and of which subject
}

// carryOut runs the order on a fleet. What is known is in the subjects, also where
// ctx ended or a worker could not run, which is the error.
func (o order) carryOut(ctx context.Context, f *fleet, watch func(*hunt)) error {
	h := &hunt{order: o, watch: watch, began: time.Now()}
	h.ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	f.run(h.next)
	if h.err != nil {
		return h.err
	}
	for _, s := range h.subjects {
		if err := s.open(); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next batch as a task; batches of one number go out for every
// subject before those of the next, so that all get their share of the time.
func (h *hunt) next() *task {
	for skipped := 0; skipped < len(h.subjects); {
		if h.ctx.Err() != nil || !h.until.IsZero() && !time.Now().Before(h.until) {
			return nil
		}
		s, number := h.subjects[h.at], h.shard.batch(h.round)
		if h.at++; h.at == len(h.subjects) {
			h.at = 0
			h.round++
		}
		if size := h.size(number); size > 0 && number < s.failed {
			return h.task(s, &batch{number: number, size: size})
		}
		skipped++
	}
	return nil
}

func (h *hunt) size(number int) int {
	if h.schedules == 0 {
		return batchSize
	}
	return min(batchSize, h.schedules-number*batchSize)
}

func (h *hunt) task(s *subject, b *batch) *task {
	t := &task{
		job: job{
			scene: s.scene, Target: s.target, Seed: batchSeed(s.seed, b.number),
			Schedules: b.size, Until: h.until, Scout: len(s.batches) == 0,
		},
		progress: func(now tally) {
			b.tally = now
			h.tell()
		},
		done: func(m message, err error) { h.take(s, b, m, err) },
	}
	t.ctx, b.cancel = context.WithCancel(h.ctx)
	b.tally, b.began = newTally(), time.Now()
	s.batches = append(s.batches, b)
	return t
}

// take takes what a worker found into account.
func (h *hunt) take(s *subject, b *batch, m message, err error) {
	b.wall = time.Since(b.began)
	b.cancel()
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err == nil && m.Campaign == nil:
		err = errors.New("a worker sent the answer to another question")
		fallthrough
	case err != nil:
		if h.err == nil {
			h.err = notRun("%w", err)
		}
		h.cancel()
		return
	}
	b.campaign, b.done = *m.Campaign, true
	if b.Events != nil {
		s.events = b.Events
	}
	if b.Failure != nil && b.number < s.failed {
		s.failed = b.number
		for _, later := range s.batches {
			if later.number > b.number {
				later.cancel()
			}
		}
	}
	h.tell()
}

func (h *hunt) tell() {
	if h.watch != nil {
		h.watch(h)
	}
}

// open unpacks the subject's failure.
func (s *subject) open() error {
	before := 0
	for _, b := range s.batches {
		if b.number < s.failed {
			before += b.Schedules
			continue
		}
		if b.number > s.failed {
			break
		}
		f, err := b.Failure.open(s.world)
		if err != nil {
			return notRun("%w", err)
		}
		f.Nth += before
		s.failure = f
	}
	return nil
}

// total adds up the batches in order, up to the one that broke a promise. It
// reports whether everything that was ordered is in it.
func (s *subject) total() (t tally, wall time.Duration, complete bool) {
	t, complete = newTally(), len(s.batches) > 0
	for _, b := range s.batches {
		if b.number > s.failed {
			break
		}
		t.add(b.tally)
		wall += b.wall
		complete = complete && b.done
	}
	return t, wall, complete
}
