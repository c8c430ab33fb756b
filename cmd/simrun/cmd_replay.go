package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// maxTimes bounds the replays of one command.
const maxTimes = 10_000

func (p *program) replayCommand() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use:   "replay SCHEDULE [--times K]",
		Short: "Run a schedule file and say whether it is the recorded execution",
		Long: "Replay runs a schedule file, each time in a fresh process, says whether\n" +
			"the execution is the recorded one or where it first differs from the\n" +
			"history beside the file, and gives the verdict of what ran now.",
		Args: oneFile("SCHEDULE"), PreRunE: canSimulate,
		RunE: func(c *cobra.Command, args []string) error {
			r.path = args[0]
			return p.replay(c.Context(), r)
		},
	}
	c.Flags().IntVar(&r.times, "times", 1, "how often")
	c.Flags().StringVar(&r.events, "events", "", "the events that the schedule was found with")
	workersFlag(c, &r.workers)
	return c
}

// replaying is a schedule file and what was made of it.
type replaying struct {
	path, events   string
	times, workers int

	schedule schedule.Schedule
	scene    scene
	world    sim.World
	recorded *model.History // from beside the file; nil where there is none
}

func (r *replaying) load(p *program) error {
	if r.times < 1 || r.times > maxTimes {
		return wrongUse("--times %d: want 1 to %d", r.times, maxTimes)
	}
	if r.workers < 1 || r.workers > maxWorkers {
		return wrongUse("--workers %d: want 1 to %d", r.workers, maxWorkers)
	}
	var err error
	if r.schedule, err = schedule.Load(r.path); err != nil {
		return exit{statusWrongUse, err}
	}
	values, err := loadEvents(r.events, p.err)
	if err != nil {
		return err
	}
	r.scene = scene{World: r.schedule.World, Mutant: r.schedule.Mutant, Events: values}
	if r.world, err = r.scene.build(); err != nil {
		word := "world"
		if r.schedule.Mutant != "" {
			word = "mutant"
		}
		return wrongUse("%s: %w", place(r.path, word, ""), err)
	}
	for _, f := range r.schedule.Faults {
		one := schedule.Schedule{World: r.schedule.World, Faults: []schedule.Fault{f}}
		if err := one.Check(r.world.Procs()); err != nil {
			return wrongUse("%s: %w", place(r.path, f.String(), f.At().Proc), err)
		}
	}
	if base, ok := strings.CutSuffix(r.path, scheduleEnding); ok {
		if _, err := os.Stat(base + historyEnding); err == nil {
			r.recorded, err = loadHistory(base + historyEnding)
			return err
		}
	}
	return nil
}

// place returns "FILE:LINE:COLUMN" of the line of a schedule that starts with the
// words of start, at the word at, or else at the second one.
func place(path, start, at string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return path
	}
	want := strings.Fields(start)
	for i, line := range strings.Split(string(text), "\n") {
		bare, _, _ := strings.Cut(line, "#")
		got := strings.Fields(bare)
		if len(got) < len(want) || strings.Join(got[:len(want)], " ") != strings.Join(want, " ") {
			continue
		}
		if at == "" && len(got) > 1 {
			at = got[1]
		}
		first := strings.Index(line, got[0]) + len(got[0])
		return fmt.Sprintf("%s:%d:%d", path, i+1, first+strings.Index(line[first:], at)+1)
	}
	return path
}

func (p *program) replay(ctx context.Context, r replaying) error {
	if err := r.load(p); err != nil {
		return err
	}
	f, err := newFleet(r.workers)
	if err != nil {
		return err
	}
	began := time.Now()
	all, err := r.run(ctx, f)
	if err != nil {
		return err
	}
	l := r.line(all)
	l.WallS = time.Since(began).Seconds()
	if p.json {
		if err := p.printJSON([]line{l}); err != nil {
			return err
		}
		return ended(statusOf([]line{l}))
	}
	p.printReplays(r, all)
	if l.Says != "" {
		fmt.Fprintln(p.out, l.Says)
	}
	fmt.Fprintf(p.out, "verdict: %s\n", palette(colours(p.out)).verdict(l.Verdict))
	return ended(statusOf([]line{l}))
}

// run replays in fresh processes and returns the replays in order; fewer where ctx
// ended.
func (r *replaying) run(ctx context.Context, f *fleet) ([]*sim.Replayed, error) {
	slots := make([]*replay, r.times)
	var failed error
	i := 0
	f.run(func() *task {
		if i == r.times || failed != nil || ctx.Err() != nil {
			return nil
		}
		slot := &slots[i]
		i++
		return &task{
			ctx: ctx, job: job{scene: r.scene, Schedule: r.schedule.String()},
			done: func(m message, err error) {
				if err != nil && ctx.Err() == nil && failed == nil {
					failed = notRun("%w", err)
				}
				*slot = m.Replay
			},
		}
	})
	if failed != nil {
		return nil, failed
	}
	var all []*sim.Replayed
	for _, s := range slots {
		if s == nil {
			continue
		}
		one, err := s.open(r.world)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// open makes a sim.Replayed of a replay that another process sent.
func (r *replay) open(w sim.World) (*sim.Replayed, error) {
	h, err := model.Read(strings.NewReader(r.History))
	if err != nil {
		return nil, notRun("reading a worker's history: %w", err)
	}
	res := &sim.Result{
		History: h, Broken: w.Judge(h), Drained: r.Drained,
		Virtual: time.Duration(r.Virtual * float64(time.Second)),
	}
	for _, text := range r.Unfired {
		f, err := schedule.ParseFault(text)
		if err != nil {
			return nil, notRun("reading a worker's fault: %w", err)
		}
		res.Unfired = append(res.Unfired, f)
	}
	return &sim.Replayed{Result: res, Same: r.Same, Tries: r.Tries, Broke: r.Broke}, nil
}

func (r *replaying) line(all []*sim.Replayed) line {
	l := line{
		Kind: "replay", Name: r.schedule.World, Mutant: r.schedule.Mutant, Verdict: held,
		Seed: r.schedule.Seed, File: r.path, Schedules: len(all), Again: len(all),
	}
	for _, f := range r.schedule.Faults {
		l.Faults = append(l.Faults, f.String())
	}
	for _, one := range all {
		l.VirtualS += one.Result.Virtual.Seconds()
		for i := range one.Result.History.Events() {
			if one.Result.History.Events()[i].Kind == model.Crash {
				l.Kills++
			}
		}
		if l.Digest == "" {
			l.Digest = one.Result.History.Digest()
		}
		if one.Same {
			l.Same++
		}
		if len(one.Result.Broken) == 0 {
			continue
		}
		if l.Agreed++; l.Verdict != broken {
			l.Verdict = broken
			l.Promise, l.Witness = one.Result.Broken[0].Promise, one.Result.Broken[0].Witness
		}
	}
	if len(all) < r.times {
		l.Says = fmt.Sprintf("interrupted after %d of %d replays", len(all), r.times)
		if l.Verdict == held {
			l.Verdict = undecided
		}
	}
	return l
}

// printReplays prints how each replay went, and the first that broke a promise.
func (p *program) printReplays(r replaying, all []*sim.Replayed) {
	var failure *sim.Failure
	for i, one := range all {
		number := ""
		if r.times > 1 {
			number = fmt.Sprintf("%d: ", i+1)
		}
		verdict := "every promise held"
		if names := sim.Verdict(one.Result.Broken); len(names) > 0 {
			verdict = "broken: " + strings.Join(names, ", ")
		}
		fmt.Fprintf(p.out, "%s%s; %s\n", number, one.Says(r.schedule.Digest), verdict)
		if r.recorded != nil && !one.Same {
			fmt.Fprint(p.out, firstDifference(r.recorded, one.Result.History))
		}
		if f := one.Failure(r.world, r.schedule); f != nil && failure == nil {
			failure = f
		}
	}
	if len(all) > 0 && len(all[0].Result.Unfired) > 0 {
		fmt.Fprintln(p.out, "faults whose place never came:")
		for _, f := range all[0].Result.Unfired {
			fmt.Fprintf(p.out, "    %s\n", f)
		}
	}
	if failure != nil {
		fmt.Fprintf(p.out, "\n%s\n", failure.Message(replayCommand(r.path, r.events)))
	}
}

// firstDifference shows the first event in which two histories differ.
func firstDifference(recorded, now *model.History) string {
	text := func(h *model.History, i int) string {
		if i >= h.Len() {
			return "(the history has ended)"
		}
		return cut(string(model.AppendText(nil, &h.Events()[i])), columns-4)
	}
	for i := range max(recorded.Len(), now.Len()) {
		a, b := text(recorded, i), text(now, i)
		same := i < recorded.Len() && i < now.Len() && string(
			model.AppendText(nil, &recorded.Events()[i])) == string(
			model.AppendText(nil, &now.Events()[i]))
		if !same {
			return fmt.Sprintf("first difference, event %d:\n  - %s\n  + %s\n", i+1, a, b)
		}
	}
	return "the history saved beside the schedule is the one of this replay\n"
}
