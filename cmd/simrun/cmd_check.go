package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim"
)

// checking is what `simrun check` was asked for.
type checking struct {
	bug     string
	bugs    bool
	set     []string
	small   bool
	exact   bool
	workers int
	memory  int64 // MiB
	lasting time.Duration
	actions bool
	format  string
	graph   string
	bound   int
	lift    bool
}

func (p *program) checkCommand() *cobra.Command {
	var k checking
	c := &cobra.Command{
		Use:   "check [SPEC]... [--bug NAME | --bugs] [--set NAME=N]...",
		Short: "Explore the abstract specifications; show the shortest counterexample",
		Long: "Check explores every state that a specification can reach within its bounds, and\n" +
			"says whether its promises hold there. With a bug it must find one that breaks,\n" +
			"and prints the shortest way to it. `simrun list specs` shows what there is;\n" +
			"twophase-9 is twophase with 9 resource managers.\n" +
			"--lift makes a schedule of the counterexample and runs it, and what is around\n" +
			"it, on the mutant that makes the same mistake.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.check(c.Context(), k, args)
		},
	}
	f := c.Flags()
	f.StringVar(&k.bug, "bug", "", "give the specification this mistake")
	f.BoolVar(&k.bugs, "bugs", false, "also check every mistake: each must break a promise")
	f.StringArrayVar(&k.set, "set", nil, "set a parameter, as in records=6; may be repeated")
	f.BoolVar(&k.small, "small", false, "small bounds: a second or so each")
	f.BoolVar(&k.exact, "exact", false, "keep whole states, not fingerprints")
	f.IntVar(&k.workers, "workers", runtime.NumCPU(), "goroutines of one search")
	f.Int64Var(&k.memory, "memory", check.DefaultMemory>>20, "MiB that one search may hold")
	f.DurationVar(&k.lasting, "for", 0, "give up on a search after this long")
	f.BoolVar(&k.actions, "actions", false, "print how often each action was taken")
	f.StringVar(&k.format, "format", "text", "counterexample as text or mermaid")
	f.StringVar(&k.graph, "graph", "",
		"write every state and step to this file: .dot, .aut (Aldebaran) or .json")
	f.BoolVar(&k.lift, "lift", false, "run the counterexample of a bug on the mutant that has it")
	f.IntVar(&k.bound, "bound", 10_000, "the most states of a graph")
	return c
}

// target is one search: a specification, with a bug or without.
type target struct {
	specs.Entry
	bug string
	set map[string]int
}

// check explores one target after the other.
func (p *program) check(ctx context.Context, k checking, named []string) error {
	targets, err := k.targets(named)
	if err != nil {
		return err
	}
	if k.graph != "" {
		return p.writeGraph(k, targets)
	}
	if k.lift && !sim.Simulates {
		return exit{statusNotRun, sim.ErrNeedsTag}
	}
	var reports []specs.Report
	g := newGauge(p.err)
	for _, t := range targets {
		r, err := t.Check(t.set, t.bug, k.options(ctx, g, t))
		if err != nil {
			return wrongUse("%w", err)
		}
		reports = append(reports, r)
		if ctx.Err() != nil {
			break
		}
	}
	var lifts []lift
	if k.lift {
		if lifts, err = p.liftAll(ctx, g, reports); err != nil {
			return err
		}
	}
	g.clear()
	if err := p.printChecks(k, reports, lifts); err != nil {
		return notRun("writing what was found: %w", err)
	}
	status := k.status(reports, len(targets))
	if missed := slices.ContainsFunc(lifts, lift.missed); missed && (status == 0 || !k.bugs) {
		status = statusUndecided
	}
	return ended(status)
}

func (k checking) targets(named []string) ([]target, error) {
	switch {
	case k.workers < 1 || k.workers > maxWorkers:
		return nil, wrongUse("--workers %d: want 1 to %d", k.workers, maxWorkers)
	case k.memory < 1 || k.lasting < 0:
		return nil, wrongUse("--memory and --for must be above 0")
	case k.bug != "" && k.bugs:
		return nil, wrongUse("--bug names one mistake and --bugs means all: want one of them")
	case k.bug != "" && len(named) != 1:
		return nil, wrongUse("--bug %s: name the one specification that has it", k.bug)
	case k.lift && k.bug == "" && !k.bugs:
		return nil, wrongUse("--lift: want --bug with the name of the mistake, or --bugs")
	case k.lift && k.graph != "":
		return nil, wrongUse("--lift and --graph: want one of them")
	case k.format != "text" && k.format != "mermaid":
		return nil, wrongUse("--format %s: want text or mermaid", k.format)
	}
	set, err := parseSet(k.set)
	if err != nil {
		return nil, err
	}
	if len(set) > 0 && len(named) != 1 {
		return nil, wrongUse("--set %s: name the one specification that has it", k.set[0])
	}
	all := specs.All()
	if len(named) > 0 {
		all = nil
		for _, name := range named {
			e, err := specs.Named(name)
			if err != nil {
				return nil, wrongUse("%w", err)
			}
			all = append(all, e)
		}
	}
	var targets []target
	for _, e := range all {
		targets = append(targets, k.of(e, set)...)
	}
	return targets, nil
}

// of returns the searches of one specification.
func (k checking) of(e specs.Entry, set map[string]int) []target {
	with := func(bug string) target {
		if !k.small {
			return target{e, bug, set}
		}
		small := e.Small()
		for _, b := range e.Bugs {
			if b.Name == bug {
				maps.Copy(small, b.Set) // without these it could not be found
			}
		}
		maps.Copy(small, set)
		return target{e, bug, small}
	}
	targets := []target{with(k.bug)}
	if k.bugs {
		for _, b := range e.Bugs {
			targets = append(targets, with(b.Name))
		}
	}
	return targets
}

func parseSet(words []string) (map[string]int, error) {
	set := make(map[string]int)
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil {
			return nil, wrongUse("--set %s: want NAME=NUMBER, as in records=6", word)
		}
		if _, twice := set[name]; twice {
			return nil, wrongUse("--set %s: %s is set twice", word, name)
		}
		set[name] = n
	}
	return set, nil
}

func (k checking) options(ctx context.Context, g *gauge, t target) check.Options {
	began := time.Now()
	o := check.Options{
		Workers: k.workers, Memory: k.memory << 20, Actions: k.actions,
		Clock: func() time.Duration { return time.Since(began) },
		Stop: func() bool {
			return ctx.Err() != nil || k.lasting > 0 && time.Since(began) > k.lasting
		},
		Every: 100_000,
	}
	if k.exact {
		o.Engine = check.Exact
	}
	if g != nil {
		o.Progress = func(at check.Progress) { g.showCheck(t, at) }
	}
	return o
}

// showCheck writes how far a search is.
func (g *gauge) showCheck(t target, at check.Progress) {
	if time.Since(g.last) < rewriteEvery {
		return
	}
	g.last = time.Now()
	doing := t.Name
	if t.bug != "" {
		doing += " with " + t.bug
	}
	if at.Telling {
		doing += ", finding the counterexample"
	}
	g.rewrite(fmt.Sprintf("%s: %s states, %s/s, %s to go, depth %d, %d MiB", doing,
		thousands(int(at.States)), thousands(int(at.Rate)), thousands(int(at.Queue)),
		at.Depth, at.Bytes>>20))
}

// status is broken where a right specification is, and where one with a bug that
// --bugs asked for is not: the bug was not found. A bug that --bug names breaks what
// it breaks.
func (k checking) status(reports []specs.Report, wanted int) int {
	status := 0
	for _, r := range reports {
		bad := r.Verdict == broken
		if k.bugs && r.Bug != "" {
			bad = r.Verdict == held
		}
		switch {
		case bad:
			return statusBroken
		case r.Verdict == undecided:
			status = statusUndecided
		}
	}
	if len(reports) < wanted {
		status = statusUndecided
	}
	return status
}

// writeGraph writes the graph of the one target.
func (p *program) writeGraph(k checking, targets []target) error {
	if len(targets) != 1 {
		return wrongUse("--graph %s: name one specification, with one --bug at most", k.graph)
	}
	at := strings.LastIndexByte(k.graph, '.')
	t := targets[0]
	f, err := os.Create(k.graph)
	if err != nil {
		return notRun("%w", err)
	}
	err = t.Graph(f, specs.GraphOptions{
		Set: t.set, Bug: t.bug, Bound: k.bound, Format: specs.Format(k.graph[at+1:]),
	})
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(k.graph) // half a graph would be taken for a whole one
		return wrongUse("--graph %s: %w", k.graph, err)
	}
	fmt.Fprintln(p.out, "wrote", k.graph)
	return nil
}
