package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim/mutants"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// hunting is the flags of the commands that run random schedules.
type hunting struct {
	worlds    []string
	mutant    string
	schedules int
	lasting   time.Duration
	seed      uint64
	events    string
	out       string
	workers   int
	shard     string
	lab       bool // with the isolation lab
	conform   bool
	coverage  bool
}

// defaultOut is where failures are saved.
const defaultOut = "out"

// maxSchedules bounds a campaign; longer ones are sharded or use --for.
const maxSchedules = 100_000_000

func workersFlag(c *cobra.Command, n *int) {
	c.Flags().IntVar(n, "workers", runtime.NumCPU(), "worker processes")
}

// conformFlags are about the specifications that worlds have.
func conformFlags(c *cobra.Command, h *hunting) {
	c.Flags().BoolVar(&h.conform, "conform", true,
		"judge whether histories are behaviours of the specification")
	c.Flags().BoolVar(&h.coverage, "coverage", false,
		"print how often histories take each step of the specification, and which never")
}

// tourSchedules is how many schedules the tour of all worlds runs together: some
// seconds on two cores.
const tourSchedules = 1500

// addTour makes the root command the tour of every world.
func (p *program) addTour(root *cobra.Command) {
	h := hunting{lab: true}
	root.Flags().Uint64Var(&h.seed, "seed", 1, "seed of the campaign")
	root.Flags().IntVar(&h.schedules, "schedules", 0,
		"schedules of each world (default: what takes some seconds)")
	root.Flags().StringVar(&h.out, "out", defaultOut, "folder for what broke a promise")
	workersFlag(root, &h.workers)
	conformFlags(root, &h)
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("there is no command %q%s; `simrun help` lists them",
				args[0], schedule.DidYouMean(args[0], names(root)))
		}
		return nil
	}
	root.PreRunE = canSimulate
	root.RunE = func(c *cobra.Command, _ []string) error {
		if h.schedules == 0 {
			each := tourSchedules / max(1, len(worlds.All()))
			h.schedules = max(batchSize, each/batchSize*batchSize)
		}
		return p.hunt(c.Context(), h)
	}
}

func names(root *cobra.Command) []string {
	var all []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			all = append(all, c.Name())
		}
	}
	return all
}

func (p *program) runCommand() *cobra.Command {
	var h hunting
	c := &cobra.Command{
		Use:   "run [--world NAME]... [--mutant NAME] [--schedules N | --for 30s]",
		Short: "Run random schedules; stop at the first broken promise of each world",
		Long: "Run draws schedules of faults and runs them, until a promise of the world\n" +
			"breaks. It shrinks the schedule, replays it, saves it with its history and\n" +
			"a drawing, and prints what broke and how to see it again.",
		Args: noArgs, PreRunE: canSimulate,
		RunE: func(c *cobra.Command, _ []string) error {
			if h.lasting > 0 {
				h.schedules = 0
			}
			return p.hunt(c.Context(), h)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&h.worlds, "world", nil, "world to run, may be repeated (default: all)")
	f.StringVar(&h.mutant, "mutant", "", "run this wrong program in its world")
	f.IntVar(&h.schedules, "schedules", 200, "schedules of each world")
	f.DurationVar(&h.lasting, "for", 0, "run for this long instead of a number of schedules")
	f.Uint64Var(&h.seed, "seed", 1, "seed of the campaign")
	f.StringVar(&h.events, "events", "", "JSON Lines: every line is the value of one record")
	f.StringVar(&h.out, "out", defaultOut, "folder for what broke a promise")
	f.StringVar(&h.shard, "shard", "", "run part i of n, as in 2/4")
	workersFlag(c, &h.workers)
	conformFlags(c, &h)
	c.MarkFlagsMutuallyExclusive("schedules", "for")
	c.MarkFlagsMutuallyExclusive("world", "mutant")
	return c
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("simrun %s takes no argument %q", c.Name(), args[0])
	}
	return nil
}

// order makes an order of the flags, or says what is wrong with them.
func (h hunting) order(p *program) (order, error) {
	o := order{schedules: h.schedules}
	switch {
	case h.schedules < 0 || h.schedules > maxSchedules || h.schedules == 0 && h.lasting <= 0:
		return o, wrongUse("--schedules %d: want 1 to %d", h.schedules, maxSchedules)
	case h.workers < 1 || h.workers > maxWorkers:
		return o, wrongUse("--workers %d: want 1 to %d", h.workers, maxWorkers)
	}
	var err error
	if o.shard, err = parseShard(h.shard); err != nil {
		return o, err
	}
	scenes, err := h.scenes(p)
	if err != nil {
		return o, err
	}
	for _, s := range scenes {
		// A mutant is after its own promise: others may break before it, and show
		// nothing of what it is about.
		target := ""
		if s.Mutant != "" {
			m, err := mutants.Named(s.Mutant)
			if err != nil {
				return o, wrongUse("%w", err)
			}
			target = m.Breaks
		}
		subject, err := newSubject(s, target, h.seed)
		if err != nil {
			return o, err
		}
		o.subjects = append(o.subjects, subject)
	}
	if h.lasting > 0 {
		o.until = time.Now().Add(h.lasting)
	}
	return o, nil
}

// maxWorkers bounds the processes of one machine.
const maxWorkers = 1024

func (h hunting) scenes(p *program) ([]scene, error) {
	if h.mutant != "" {
		m, err := mutants.Named(h.mutant)
		if err != nil {
			return nil, wrongUse("%w", err)
		}
		if h.events != "" {
			return nil, wrongUse("mutant %s comes with its own events", m.Name)
		}
		return []scene{{World: m.World.Name, Mutant: m.Name}}, nil
	}
	values, err := loadEvents(h.events, p.err)
	if err != nil {
		return nil, err
	}
	named := h.worlds
	if len(named) == 0 {
		for _, e := range worlds.All() {
			if values == nil || e.WithEvents != nil {
				named = append(named, e.Name)
			}
		}
	}
	var scenes []scene
	seen := make(map[string]bool)
	for _, name := range named {
		if !seen[name] {
			scenes = append(scenes, scene{World: name, Events: values, Loose: !h.conform})
		}
		seen[name] = true
	}
	return scenes, nil
}

// hunt carries out what the flags order and prints what comes of it.
func (p *program) hunt(ctx context.Context, h hunting) error {
	o, err := h.order(p)
	if err != nil {
		return err
	}
	f, err := newFleet(h.workers)
	if err != nil {
		return err
	}
	began := time.Now()
	g := newGauge(p.err)
	ranErr := o.carryOut(ctx, f, g.show)
	o.cut = ctx.Err() != nil
	if ranErr == nil {
		ranErr = confirm(ctx, f, o.subjects)
	}
	var seen []string
	if h.lab && ranErr == nil && ctx.Err() == nil {
		seen, ranErr = lab(ctx, f)
	}
	g.clear()
	var lines []line
	for _, s := range o.subjects {
		l := o.worldLine(s)
		if h.coverage {
			if l.Coverage, err = coverageOf(s); err != nil {
				return notRun("%w", err)
			}
		}
		if s.failure != nil {
			if l.File, err = save(h.out, s); err != nil && ranErr == nil {
				ranErr = notRun("%w", err)
			}
		}
		lines = append(lines, l)
	}
	sum := summary(lines, time.Since(began))
	if err := p.printHunt(h, o, append(lines, sum), seen); err != nil {
		return err
	}
	status := statusOf(lines)
	var cause exit
	if errors.As(ranErr, &cause) {
		if status == statusBroken {
			fmt.Fprintln(p.err, "simrun:", cause.err) // what is broken counts for more
			return ended(status)
		}
		return cause
	}
	return ended(status)
}

// printHunt prints lines, the last of which is the summary.
func (p *program) printHunt(h hunting, o order, lines []line, seen []string) error {
	if p.json {
		return p.printJSON(lines)
	}
	colour := palette(colours(p.out))
	worlds, sum := lines[:len(lines)-1], lines[len(lines)-1]
	hopTable{colour, p.out}.print(worlds)
	p.printLab(seen)
	printCoverage(p.out, colour, worlds)
	for i, s := range o.subjects {
		if s.failure != nil {
			again := "not saved"
			if path := worlds[i].File; path != "" {
				again = replayCommand(path, h.events)
			}
			fmt.Fprintf(p.out, "\n%s", s.failure.Message(again))
		}
	}
	_, err := fmt.Fprint(p.out, "\n"+closing(sum, colour, h.workers))
	return err
}

func (p *program) printJSON(lines []line) error {
	for _, l := range lines {
		if err := l.write(p.out); err != nil {
			return notRun("writing results: %w", err)
		}
	}
	return nil
}
