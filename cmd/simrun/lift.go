package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/mutants"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// What lifting can come to.
const (
	confirmed     = "confirmed"
	notReproduced = "not reproduced"
	noMutant      = "no mutant"    // makes the mistake
	notLiftable   = "not liftable" // nothing says how steps are faults
)

// lift is what came of a counterexample as a schedule of the mutant with the same
// mistake.
type lift struct {
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	Mutant  string `json:"mutant,omitempty"`
	World   string `json:"world,omitempty"`
	Promise string `json:"promise,omitempty"` // that the mutant must break
	Witness string `json:"witness,omitempty"`
	// Also are other promises that the schedule breaks on the mutant.
	Also []string `json:"also_broken,omitempty"`

	// Tries is how many schedules were run, Of how many there were to try, and Looked
	// how far the last one is from the lifted one. Idle is how many of them named an
	// event that never came.
	Tries  int    `json:"tries"`
	Of     int    `json:"of"`
	Idle   int    `json:"idle"`
	Looked string `json:"looked,omitempty"`

	Schedule string `json:"schedule,omitempty"` // that breaks the promise
	// Of Replays in fresh processes, Agreed broke it again.
	Agreed  int `json:"agreed,omitempty"`
	Replays int `json:"replays,omitempty"`
	// Right is what becomes of the promise with the right program under the schedule,
	// and Plain with the mutant and no faults: held or broken, "" where none of it was run.
	Right string `json:"right,omitempty"`
	Plain string `json:"plain,omitempty"`
}

// liftReplays is how often a schedule that was found is run again.
const liftReplays = 3

// missed says that a mutant was there, and did not do what the counterexample says.
func (l lift) missed() bool { return l.Verdict == notReproduced || l.Verdict == notLiftable }

// liftAll lifts the counterexample of every report of a bug, in the order of reports.
func (p *program) liftAll(ctx context.Context, g *gauge, reports []specs.Report) ([]lift, error) {
	f, err := newFleet(1)
	if err != nil {
		return nil, err
	}
	lifts := make([]lift, len(reports))
	for i, r := range reports {
		if r.Bug == "" || ctx.Err() != nil {
			continue
		}
		if g != nil {
			g.rewrite("lifting " + r.Spec + " with " + r.Bug)
		}
		if lifts[i], err = liftOne(ctx, f, r); err != nil {
			return nil, err
		}
	}
	return lifts, nil
}

// liftOne runs the counterexample of a report on the mutant of its bug.
func liftOne(ctx context.Context, f *fleet, r specs.Report) (lift, error) {
	l := lift{Verdict: notReproduced, Mutant: r.Mutant}
	switch {
	case r.Verdict != broken:
		l.Why = "there is no counterexample"
		return l, nil
	case r.Mutant == "":
		l.Verdict, l.Why = noMutant, "no program in sim/mutants makes this mistake"
		return l, nil
	case !r.Liftable:
		l.Verdict = notLiftable
		l.Why = "nothing says how steps of " + r.Spec + " are faults of a world"
		return l, nil
	}
	m, err := mutants.Named(r.Mutant)
	if err != nil {
		return l, notRun("lifting %s with %s: %w", r.Spec, r.Bug, err)
	}
	l.World, l.Promise = m.World.Name, m.Breaks
	around, err := neighbourhood(m.World, r)
	if err != nil {
		return l, notRun("lifting %s with %s: %w", r.Spec, r.Bug, err)
	}
	l.Of = len(around)
	s := scene{World: m.World.Name, Mutant: m.Name}
	found, err := l.search(ctx, f, s, around)
	if err != nil || found == nil {
		return l, err
	}
	return l, l.again(ctx, f, s, *found)
}

// search looks for the nearest schedule that breaks the promise, in one process.
func (l *lift) search(
	ctx context.Context, f *fleet, s scene, around []try,
) (*schedule.Schedule, error) {
	j := job{scene: s, Target: l.Promise}
	for _, t := range around {
		j.Tries = append(j.Tries, schedule.Schedule{
			World: s.World, Mutant: s.Mutant, Seed: t.seed, Faults: t.faults,
		}.String())
	}
	m, err := f.do(ctx, j, func(tally) {})
	switch {
	case err != nil:
		return nil, notRun("lifting to mutant %s: %w", s.Mutant, err)
	case m.Tried == nil:
		return nil, notRun("lifting to mutant %s: a worker sent the answer to another question",
			s.Mutant)
	}
	l.Tries, l.Idle = m.Tried.Tries, m.Tried.Idle
	if !m.Tried.Broke {
		l.Why = fmt.Sprintf("the promise held under the lifted schedule and %s around it; "+
			"%d of them named an event that never came", plural(l.Tries-1, "other"), l.Idle)
		return nil, nil
	}
	last := around[l.Tries-1]
	l.Looked = last.String()
	parsed, err := schedule.Parse(strings.NewReader(j.Tries[l.Tries-1]))
	return &parsed, err
}

// again runs a schedule in fresh processes: with the mutant, with the right program, and
// with the mutant and no faults.
func (l *lift) again(ctx context.Context, f *fleet, s scene, found schedule.Schedule) error {
	for range liftReplays {
		r, broke, err := l.replay(ctx, f, s, found)
		if err != nil {
			return err
		}
		if l.Replays++; broke == "" {
			continue
		}
		if l.Agreed++; l.Witness == "" {
			l.Witness = broke
			l.Also = slices.DeleteFunc(sim.Verdict(r.Broken), func(promise string) bool {
				return promise == l.Promise
			})
			recorded := found
			recorded.Digest = r.History.Digest()
			l.Schedule = recorded.String()
		}
	}
	if l.Agreed == 0 {
		l.Why = "a schedule broke the promise once, and in no fresh process again"
		return nil
	}
	l.Verdict = confirmed
	var err error
	right := found
	right.Mutant = ""
	if l.Right, err = l.control(ctx, f, scene{World: s.World}, right); err != nil {
		return err
	}
	found.Faults = nil
	l.Plain, err = l.control(ctx, f, s, found)
	return err
}

// control says what becomes of the promise under a schedule that is to break nothing, or
// nothing by its faults.
func (l *lift) control(
	ctx context.Context, f *fleet, s scene, plan schedule.Schedule,
) (string, error) {
	_, broke, err := l.replay(ctx, f, s, plan)
	switch {
	case err != nil:
		return "", err
	case broke != "":
		return broken, nil
	}
	return held, nil
}

// replay runs a schedule in a fresh process and returns what came of it and in what way
// that breaks the promise, "" for none.
func (l *lift) replay(
	ctx context.Context, f *fleet, s scene, plan schedule.Schedule,
) (*sim.Result, string, error) {
	w, err := s.build()
	if err != nil {
		return nil, "", notRun("%w", err)
	}
	m, err := f.do(ctx, job{scene: s, Schedule: plan.String()}, func(tally) {})
	if err == nil && m.Replay == nil {
		err = errors.New("a worker sent the answer to another question")
	}
	if err != nil {
		return nil, "", notRun("replaying a lifted schedule: %w", err)
	}
	r, err := m.Replay.open(w)
	if err != nil {
		return nil, "", err
	}
	for _, b := range r.Result.Broken {
		if b.Promise == l.Promise {
			return r.Result, b.Witness, nil
		}
	}
	return r.Result, "", nil
}

// tried is how a search around a lifted schedule ended.
type tried struct {
	Tries int  `json:"tries"`
	Idle  int  `json:"idle"`
	Broke bool `json:"broke"` // the last one broke the promise
}

// search runs schedules until one breaks the promise.
func (w worker) search(world sim.World, j job) (*tried, error) {
	var t tried
	for _, text := range j.Tries {
		s, err := schedule.Parse(strings.NewReader(text))
		if err != nil {
			return nil, err
		}
		r, err := w.Run(world, s)
		if err != nil {
			return nil, err
		}
		t.Tries++
		if len(r.Unfired) > 0 {
			t.Idle++
		}
		if slices.Contains(sim.Verdict(r.Broken), j.Target) {
			t.Broke = true
			break
		}
	}
	return &t, nil
}
