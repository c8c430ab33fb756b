package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/mutants"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// exploring is the flags of the command.
type exploring struct {
	hunting
	faults int
	limit  int
	verbs  []string
}

func (p *program) exploreCommand() *cobra.Command {
	var e exploring
	c := &cobra.Command{
		Use:   "explore --world NAME... [--mutant NAME] [--faults 1|2] [--verb NAME]...",
		Short: "Run every schedule of one fault, then of two, and say whether that was all",
		Long: "Explore runs a world with one workload, that of the seed: without faults;\n" +
			"then with one fault at each boundary event that this showed; with --faults 2\n" +
			"then with each pair of faults. It stops at the first broken promise.\n" +
			"\n" +
			"The second fault of a pair stands at an event of the run with the first one,\n" +
			"after that has struck. So it reaches what the first one brings about, such\n" +
			"as the life after a crash; every pair that can strike is run, and is run\n" +
			"once, in the order in which its faults strike. Two faults at one event are\n" +
			"not tried. Durations and errors are those that run draws from.\n" +
			"\n" +
			"One fault takes a minute in small worlds. Two take hours, so bound them:\n" +
			"--verb crash leaves crashes alone, --limit ends early. A shard has every n-th\n" +
			"batch of single faults, and the pairs that begin with them.\n" +
			"\n" +
			"Status 0: held, and all schedules were run. 1: a promise was broken. 4: held\n" +
			"as far as it went, because of --limit or Ctrl-C.",
		Args: noArgs, PreRunE: canSimulate,
		RunE: func(c *cobra.Command, _ []string) error { return p.explore(c.Context(), e) },
	}
	f := c.Flags()
	f.StringArrayVar(&e.worlds, "world", nil, "world to explore, may be repeated")
	f.StringVar(&e.mutant, "mutant", "", "explore this wrong program in its world")
	f.IntVar(&e.faults, "faults", 1, "most faults of a schedule, 1 or 2")
	f.StringArrayVar(&e.verbs, "verb", nil,
		"only faults of this kind, may be repeated (default: all; see list faults)")
	f.IntVar(&e.limit, "limit", 0, "schedules of each world at most (default: all)")
	f.Uint64Var(&e.seed, "seed", 1, "seed of the workload")
	f.StringVar(&e.out, "out", defaultOut, "folder for what broke a promise")
	f.StringVar(&e.shard, "shard", "", "run part i of n, as in 2/4")
	workersFlag(c, &e.workers)
	c.MarkFlagsMutuallyExclusive("world", "mutant")
	c.MarkFlagsOneRequired("world", "mutant")
	return c
}

// surveys makes surveys of the flags, or says what is wrong with them.
func (e exploring) surveys(p *program) ([]*survey, error) {
	switch {
	case e.faults < 1 || e.faults > sim.MaxExplored:
		return nil, wrongUse("--faults %d: want 1 or %d", e.faults, sim.MaxExplored)
	case e.limit < 0 || e.limit > maxSchedules:
		return nil, wrongUse("--limit %d: want 1 to %d, or 0 for all", e.limit, maxSchedules)
	case e.workers < 1 || e.workers > maxWorkers:
		return nil, wrongUse("--workers %d: want 1 to %d", e.workers, maxWorkers)
	}
	if err := (schedule.Options{Verbs: e.verbs}).Check(); err != nil {
		return nil, wrongUse("--verb: %w", err)
	}
	part, err := parseShard(e.shard)
	if err != nil {
		return nil, err
	}
	scenes, err := e.scenes(p)
	if err != nil {
		return nil, err
	}
	var all []*survey
	for _, scene := range scenes {
		target := ""
		if scene.Mutant != "" {
			m, err := mutants.Named(scene.Mutant)
			if err != nil {
				return nil, wrongUse("%w", err)
			}
			target = m.Breaks
		}
		subject, err := newSubject(scene, target, e.seed)
		if err != nil {
			return nil, err
		}
		s := &survey{subject: subject, bound: e.faults, limit: e.limit, shard: part}
		if s.verbs, err = e.within(subject.world); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// within returns the verbs that flags and world both allow, none for all.
func (e exploring) within(w sim.World) ([]string, error) {
	if len(e.verbs) == 0 || len(w.Verbs) == 0 {
		return e.verbs, nil
	}
	both := slices.DeleteFunc(slices.Clone(w.Verbs), func(name string) bool {
		return !slices.Contains(e.verbs, name)
	})
	if len(both) == 0 {
		return nil, wrongUse("--verb %s: world %s has only the faults %s",
			strings.Join(e.verbs, " --verb "), w.Name, strings.Join(w.Verbs, ", "))
	}
	return both, nil
}

// explore carries out what the flags order and prints what comes of it.
func (p *program) explore(ctx context.Context, e exploring) error {
	surveys, err := e.surveys(p)
	if err != nil {
		return err
	}
	f, err := newFleet(e.workers)
	if err != nil {
		return err
	}
	began := time.Now()
	g := newGauge(p.err)
	var ranErr error
	var subjects []*subject
	for _, s := range surveys {
		if ranErr != nil || ctx.Err() != nil {
			s.cut = true
			continue
		}
		s.watch = g.showSurvey
		ranErr = s.carryOut(ctx, f)
		subjects = append(subjects, s.subject)
	}
	if ranErr == nil {
		ranErr = confirm(ctx, f, subjects)
	}
	g.clear()
	var lines []surveyLine
	for _, s := range surveys {
		l := s.line()
		if s.failure != nil {
			if l.File, err = save(e.out, s.subject); err != nil && ranErr == nil {
				ranErr = notRun("%w", err)
			}
		}
		lines = append(lines, l)
	}
	plain := make([]line, len(lines))
	for i, l := range lines {
		plain[i] = l.line
	}
	sum := summary(plain, time.Since(began))
	if err := p.printSurveys(e, surveys, lines, sum); err != nil {
		return err
	}
	status := statusOf(plain)
	var cause exit
	if errors.As(ranErr, &cause) {
		if status != statusBroken {
			return cause
		}
		fmt.Fprintln(p.err, "simrun:", cause.err) // what is broken counts for more
	}
	return ended(status)
}

// printSurveys prints lines and their sum.
func (p *program) printSurveys(
	e exploring, surveys []*survey, lines []surveyLine, sum line,
) error {
	if p.json {
		for _, l := range lines {
			if err := l.write(p.out); err != nil {
				return notRun("writing results: %w", err)
			}
		}
		return p.printJSON([]line{sum})
	}
	colour := palette(colours(p.out))
	surveyTable{colour, p.out, e.faults}.print(lines)
	for i, s := range surveys {
		if s.failure != nil {
			again := "not saved"
			if path := lines[i].File; path != "" {
				again = replayCommand(path, "")
			}
			fmt.Fprintf(p.out, "\n%s", s.failure.Message(again))
		}
	}
	_, err := fmt.Fprint(p.out, "\n"+closing(sum, colour, e.workers))
	return err
}
