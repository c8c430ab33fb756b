package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim/mutants"
)

// maxSeeds bounds the campaigns of one mutant.
const maxSeeds = 1000

func (p *program) mutantsCommand() *cobra.Command {
	var h hunting
	var seeds int
	c := &cobra.Command{
		Use:   "mutants [NAME]...",
		Short: "Run known-bad programs: each must be caught by its promise",
		Long: "Mutants runs each wrong program under random schedules, once with every\n" +
			"seed, until the promise breaks that must catch it. One that no seed\n" +
			"catches is a failure.",
		PreRunE: canSimulate,
		RunE: func(c *cobra.Command, args []string) error {
			return p.mutants(c.Context(), h, seeds, args)
		},
	}
	c.Flags().IntVar(&h.schedules, "schedules", 300, "schedules for each seed, at most")
	c.Flags().IntVar(&seeds, "seeds", 5, "campaigns for each mutant")
	c.Flags().Uint64Var(&h.seed, "seed", 1, "the first seed")
	c.Flags().StringVar(&h.out, "out", "",
		"folder to save the smallest schedules in (default: not saved)")
	workersFlag(c, &h.workers)
	return c
}

// trial is a mutant and its campaigns.
type trial struct {
	mutants.Mutant
	subjects []*subject
}

func (p *program) mutants(ctx context.Context, h hunting, seeds int, named []string) error {
	if seeds < 1 || seeds > maxSeeds {
		return wrongUse("--seeds %d: want 1 to %d", seeds, maxSeeds)
	}
	switch {
	case h.schedules < 1 || h.schedules > maxSchedules:
		return wrongUse("--schedules %d: want 1 to %d", h.schedules, maxSchedules)
	case h.workers < 1 || h.workers > maxWorkers:
		return wrongUse("--workers %d: want 1 to %d", h.workers, maxWorkers)
	}
	all, err := chosen(named)
	if err != nil {
		return err
	}
	o := order{schedules: h.schedules, shard: whole}
	var trials []*trial
	for _, m := range all {
		t := &trial{Mutant: m}
		for i := range seeds {
			wrong := scene{World: m.World.Name, Mutant: m.Name}
			s, err := newSubject(wrong, m.Breaks, h.seed+uint64(i))
			if err != nil {
				return err
			}
			t.subjects = append(t.subjects, s)
		}
		o.subjects = append(o.subjects, t.subjects...)
		trials = append(trials, t)
	}
	return p.try(ctx, h, o, trials)
}

func chosen(named []string) ([]mutants.Mutant, error) {
	if len(named) == 0 {
		return mutants.All(), nil
	}
	var all []mutants.Mutant
	for _, name := range named {
		m, err := mutants.Named(name)
		if err != nil {
			return nil, wrongUse("%w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (p *program) try(ctx context.Context, h hunting, o order, trials []*trial) error {
	f, err := newFleet(h.workers)
	if err != nil {
		return err
	}
	began := time.Now()
	g := newGauge(p.err)
	ranErr := o.carryOut(ctx, f, g.show)
	o.cut = ctx.Err() != nil
	var smallest []*subject
	for _, t := range trials {
		if s := t.smallest(); s != nil {
			smallest = append(smallest, s)
		}
	}
	if ranErr == nil {
		ranErr = confirm(ctx, f, smallest)
	}
	g.clear()
	var lines []line
	for _, t := range trials {
		l := t.line(o)
		if s := t.smallest(); s != nil && h.out != "" {
			if l.File, err = save(h.out, s); err != nil {
				return notRun("%w", err)
			}
		}
		lines = append(lines, l)
	}
	if err := p.printMutants(lines, time.Since(began), h.workers); err != nil {
		return err
	}
	var cause exit
	if errors.As(ranErr, &cause) {
		return cause
	}
	return ended(statusOfMutants(lines))
}

// smallest returns the campaign that found the smallest schedule, the first of
// those; nil where none found any.
func (t *trial) smallest() *subject {
	var best *subject
	for _, s := range t.subjects {
		if s.failure == nil {
			continue
		}
		if best == nil || len(s.failure.Schedule.Faults) < len(best.failure.Schedule.Faults) {
			best = s
		}
	}
	return best
}

// line says what is known of a mutant. Its verdict is that of the promise: broken
// is good, the mutant was caught.
func (t *trial) line(o order) line {
	l := line{
		Kind: "mutant", Name: t.Name, World: t.World.Name, Case: t.Case, Promise: t.Breaks,
		Verdict: held, Seeds: len(t.subjects), Seed: t.subjects[0].seed,
		KilledAt: make(map[string]int), Cut: o.cut,
	}
	sum := 0
	for _, s := range t.subjects {
		total, wall, complete := s.total()
		l.Schedules += total.Schedules
		l.Kills += total.kills()
		l.Struck += total.Faults
		l.VirtualS += total.VirtualS
		l.WallS += wall.Seconds()
		addCounts(l.KilledAt, total.Kills)
		if s.failure != nil {
			l.Caught++
			sum += s.failure.Nth
			l.Most = max(l.Most, s.failure.Nth)
		} else if !complete {
			l.Verdict = undecided
		}
	}
	if best := t.smallest(); best != nil {
		l.Verdict = broken
		l.Mean = float64(sum) / float64(l.Caught)
		l.fail(best.failure)
		l.Seed = best.seed
	}
	return l
}

// statusOfMutants is 1 where a mutant was not caught.
func statusOfMutants(lines []line) int {
	status := 0
	for _, l := range lines {
		switch l.Verdict {
		case held:
			return statusBroken
		case undecided:
			status = statusUndecided
		}
	}
	return status
}

func (p *program) printMutants(lines []line, elapsed time.Duration, workers int) error {
	caught := 0
	sum := line{Kind: "summary", Name: "mutants", Verdict: broken, WallS: elapsed.Seconds()}
	for _, l := range lines {
		sum.Schedules += l.Schedules
		sum.Kills += l.Kills
		sum.VirtualS += l.VirtualS
		if l.Verdict == broken {
			caught++
		}
	}
	switch statusOfMutants(lines) {
	case statusBroken:
		sum.Verdict = held
	case statusUndecided:
		sum.Verdict = undecided
	}
	sum.Says = fmt.Sprintf("%d of %d mutants caught", caught, len(lines))
	if p.json {
		return p.printJSON(append(lines, sum))
	}
	mutantTable{palette(colours(p.out)), p.out}.print(lines)
	_, err := fmt.Fprintf(p.out, "\n%s: %s, %s in %.1f s with %s\n", sum.Says,
		plural(sum.Schedules, "schedule"), plural(sum.Kills, "kill"), sum.WallS,
		plural(workers, "worker"))
	return err
}
