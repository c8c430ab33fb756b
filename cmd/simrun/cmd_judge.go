package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

func (p *program) judgeCommand() *cobra.Command {
	var world string
	c := &cobra.Command{
		Use:   "judge HISTORY [--world NAME]",
		Short: "Judge a saved history again by the promises of a world",
		Long: "Judge reads a history, from simulation, live mode or elsewhere, and judges\n" +
			"it by the promises of a world. Without --world it takes the world of the\n" +
			"schedule beside it.",
		Args: oneFile("HISTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := loadHistory(args[0])
			if err != nil {
				return err
			}
			s, err := sceneOf(world, args[0])
			if err != nil {
				return err
			}
			if s.World == "" {
				return wrongUse("--world is missing: `simrun list worlds` names them")
			}
			w, err := s.build()
			if err != nil {
				return exit{statusWrongUse, err}
			}
			return p.judge(args[0], w, h)
		},
	}
	c.Flags().StringVar(&world, "world", "", "world whose promises to judge by")
	return c
}

func oneFile(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("want one %s, got %d; `simrun %s --help` says more",
				what, len(args), c.Name())
		}
		return nil
	}
}

// loadHistory reads a history, or says in one line where it is damaged.
func loadHistory(path string) (*model.History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, wrongUse("reading a history: %w", err)
	}
	defer f.Close()
	h, err := model.Read(f)
	if err != nil {
		return nil, wrongUse("history %s: %w", path, err)
	}
	return h, nil
}

// sceneOf returns the named world, or else that of the schedule beside a history,
// or else none.
func sceneOf(world, historyPath string) (scene, error) {
	if world != "" {
		return scene{World: world}, nil
	}
	base, ok := strings.CutSuffix(historyPath, historyEnding)
	if !ok {
		return scene{}, nil
	}
	s, err := schedule.Load(base + scheduleEnding)
	if errors.Is(err, os.ErrNotExist) {
		return scene{}, nil
	}
	if err != nil {
		return scene{}, exit{statusWrongUse, err}
	}
	return scene{World: s.World, Mutant: s.Mutant}, nil
}

// judge prints what a history breaks.
func (p *program) judge(path string, w sim.World, h *model.History) error {
	all := w.Judge(h)
	l := line{Kind: "world", Name: w.Name, Verdict: held, Digest: h.Digest(), File: path}
	l.Schedules = 1
	if n := h.Len(); n > 0 {
		l.VirtualS = h.Events()[n-1].At.Seconds()
	}
	for i := range h.Events() {
		if h.Events()[i].Kind == model.Crash {
			l.Kills++
		}
	}
	audited := model.Audit(h).Ran()
	if !audited {
		l.Verdict = undecided
		l.Says = "the history has no audit: what should be there and is not cannot be told"
	}
	if len(all) > 0 {
		l.Verdict, l.Promise, l.Witness = broken, all[0].Promise, all[0].Witness
	}
	if p.json {
		if err := p.printJSON([]line{l}); err != nil {
			return err
		}
		return ended(statusOf([]line{l}))
	}
	colour := palette(colours(p.out))
	fmt.Fprintf(p.out, "history of %s, digest %s, world %s\n",
		plural(h.Len(), "event"), l.Digest, w.Name)
	for _, promise := range w.AllPromises() {
		printPromise(p, colour, promise, all)
	}
	if len(all) > 0 {
		fmt.Fprintf(p.out, "\nhistory (> marks the witnesses):\n%s", sim.Excerpt(h, all))
	}
	if l.Says != "" {
		fmt.Fprintln(p.out, colour.doubt(l.Says))
	}
	fmt.Fprintf(p.out, "verdict: %s\n", colour.verdict(l.Verdict))
	return ended(statusOf([]line{l}))
}

// shownWitnesses is how many witnesses of one promise are printed.
const shownWitnesses = 5

func printPromise(p *program, colour palette, promise props.Property, all []props.Broken) {
	var mine []props.Broken
	for _, b := range all {
		if b.Promise == promise.Name {
			mine = append(mine, b)
		}
	}
	verdict := held
	if len(mine) > 0 {
		verdict = broken
	}
	pad := strings.Repeat(" ", len(broken)-len(verdict))
	fmt.Fprintf(p.out, "  %s%s  %s\n", colour.verdict(verdict), pad, promise.Name)
	for i, b := range mine {
		if i == 0 {
			fmt.Fprint(p.out, fold(promise.Says, "          "))
		}
		if i == shownWitnesses {
			fmt.Fprintf(p.out, "          ... and %d more\n", len(mine)-i)
			break
		}
		fmt.Fprintf(p.out, "          %s\n", b.Witness)
	}
}
