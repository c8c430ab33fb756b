package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/supervise"
	"github.com/hopcheck/hopcheck/cmd/live/target"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// runFlags are the flags of run.
type runFlags struct {
	worlds   []string
	schedule string
	seed     uint64
	crashes  int
	events   string
	rate     float64
	out      string
	keep     bool
	yes      bool
	safety   time.Duration
	liveness time.Duration
}

func (p *program) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run worlds on real servers, with processes that are killed",
		Long: "Run starts every process of a world as a process of the operating system, kills\n" +
			"them by SIGKILL at the boundary events that a schedule names or that are drawn\n" +
			"from the seed, then reads what is really there and judges it by the promises of\n" +
			"the simulated world. The servers are those of HOPCHECK_BROKERS and the variables\n" +
			"beside it or, without, the local stack.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("seed") {
				f.seed = freshSeed()
			}
			return p.run(c.Context(), f)
		},
	}
	p.addDir(c)
	fl := c.Flags()
	fl.StringSliceVar(&f.worlds, "world", nil, "world to run: "+strings.Join(worlds.List(), ", "))
	fl.StringVar(&f.schedule, "schedule", "", "file with what goes wrong, as simrun saves it")
	fl.Uint64Var(&f.seed, "seed", 0, "seed for faults and input (default: drawn)")
	fl.IntVar(&f.crashes, "crashes", 3, "SIGKILLs to draw from the seed")
	fl.StringVar(&f.events, "events", "200", "how many records flow in, or a file of them")
	fl.Float64Var(&f.rate, "rate", 0, "records a second (default: all within 20 s)")
	fl.StringVar(&f.out, "out", "run", "folder for what runs leave behind, one folder for each")
	fl.BoolVar(&f.keep, "keep", false, "keep topics, groups and objects, for `live audit`")
	fl.BoolVar(&f.yes, "yes", false, "use servers of another machine")
	fl.DurationVar(&f.safety, "safety", 2*time.Minute, "how long faults may strike")
	fl.DurationVar(&f.liveness, "liveness", 5*time.Minute, "in which all must drain after that")
	return c
}

// freshSeed is short: people type it again.
func freshSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
}

// newRunID names a run, for 36^8 of them.
func newRunID() string { return strings.ToLower(rand.Text()[:8]) }

// run runs the worlds one after the other.
func (p *program) run(ctx context.Context, f runFlags) error {
	plans, err := f.plans()
	if err != nil {
		return err
	}
	t, env, err := target.Find(p.dir)
	if err != nil {
		return notRun(err)
	}
	if err := t.Allow(f.yes); err != nil {
		return exit{statusWrongUse, err}
	}
	broken := false
	for _, o := range plans {
		o.Target, o.Env = t, env
		held, err := p.runOne(ctx, o, f.keep)
		if err != nil {
			return err
		}
		broken = broken || !held
	}
	if broken {
		return exit{status: statusBroken}
	}
	return nil
}

// plans says what is to be run.
func (f runFlags) plans() ([]supervise.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, notRun(fmt.Errorf("looking for this program: %w", err))
	}
	var schedules []schedule.Schedule
	switch {
	case f.schedule != "":
		s, err := schedule.Load(f.schedule)
		if err != nil {
			return nil, wrongUse("%w", err)
		}
		if len(f.worlds) > 1 || len(f.worlds) == 1 && f.worlds[0] != s.World {
			return nil, wrongUse("%s is of world %s: leave --world out", f.schedule, s.World)
		}
		if s.Mutant != "" {
			return nil, wrongUse("%s is of mutant %s: live runs have the right hops alone",
				f.schedule, s.Mutant)
		}
		schedules = append(schedules, s)
	case len(f.worlds) == 0:
		return nil, wrongUse("no --world and no --schedule; there are %s",
			strings.Join(worlds.List(), ", "))
	default:
		for _, name := range f.worlds {
			w, err := worlds.Named(name)
			if err != nil {
				return nil, wrongUse("%w", err)
			}
			s, err := drawCrashes(w, f.seed, f.crashes)
			if err != nil {
				return nil, err
			}
			schedules = append(schedules, s)
		}
	}
	var plans []supervise.Options
	for _, s := range schedules {
		w, err := worlds.Named(s.World)
		if err != nil {
			return nil, wrongUse("%w", err)
		}
		if err := s.Check(w.Procs()); err != nil {
			return nil, wrongUse("%w", err)
		}
		values, err := f.values(w, s.Seed)
		if err != nil {
			return nil, err
		}
		id := newRunID()
		plans = append(plans, supervise.Options{
			World: w, Schedule: s, Values: values, Rate: f.perSecond(len(values)), ID: id,
			Folder: supervise.Folder(filepath.Join(f.out, id)), Self: self,
			Safety: f.safety, Liveness: f.liveness,
		})
	}
	return plans, nil
}

// perSecond is how fast n records flow in.
func (f runFlags) perSecond(n int) float64 {
	const within, least = 20, 10
	if f.rate > 0 {
		return f.rate
	}
	return max(least, float64(n)/within)
}

// values makes or reads what flows in.
func (f runFlags) values(w worlds.World, seed uint64) ([][]byte, error) {
	if n, err := strconv.Atoi(f.events); err == nil {
		if n < 1 || n > math.MaxInt32 {
			return nil, wrongUse("--events %d: want 1 or more", n)
		}
		return w.Values(mathrand.New(mathrand.NewPCG(seed, 0x68_6f_70)), n), nil
	}
	b, err := os.ReadFile(f.events)
	if err != nil {
		return nil, wrongUse("reading events: %w", err)
	}
	var values [][]byte
	for line := range bytes.Lines(b) {
		values = append(values, bytes.TrimRight(line, "\r\n"))
	}
	if len(values) == 0 {
		return nil, wrongUse("%s holds no events: a record on each line is wanted", f.events)
	}
	return values, nil
}

// drawCrashes draws as many crashes as are wanted, the n-th of a process in its n-th life:
// a process dies once in a life, and two deaths in one would be one that never comes.
func drawCrashes(w worlds.World, seed uint64, crashes int) (schedule.Schedule, error) {
	s := schedule.Schedule{World: w.Name, Seed: seed}
	if crashes < 0 || crashes > schedule.MaxFaults {
		return s, wrongUse("--crashes %d: want 0 to %d", crashes, schedule.MaxFaults)
	}
	o := schedule.Options{Verbs: []string{"crash"}, MaxFaults: 1, Lives: 1}
	c := schedule.Seeded(seed)
	died := make(map[string]int)
	const tries = 1000
	for range tries {
		if len(s.Faults) == crashes {
			break
		}
		for _, f := range schedule.Draw(c, schedule.Alphabet{Points: w.Points}, o) {
			if !seen(w.Points, f.At()) {
				continue // a draw goes a little beyond
			}
			proc := f.At().Proc
			died[proc]++
			line := strings.Replace(f.String(), " life 1 ",
				fmt.Sprintf(" life %d ", died[proc]), 1)
			s.Faults = append(s.Faults, schedule.MustFault(line))
		}
	}
	return s, nil
}

// seen reports whether a life without faults comes to a point.
func seen(points []schedule.Seen, p schedule.Point) bool {
	return slices.ContainsFunc(points, func(s schedule.Seen) bool {
		return s.Proc == p.Proc && s.Kind == p.Kind && s.Op == p.Op && p.Nth <= s.Most
	})
}

// runOne runs one world and reports whether its promises held.
func (p *program) runOne(ctx context.Context, o supervise.Options, keep bool) (bool, error) {
	began := time.Now()
	g := newGauge(p.err)
	o.Tell = func(doing string) { g.show(o.World.Name + " " + o.ID + ": " + doing) }
	err := supervise.Run(ctx, o)
	g.clear()
	if err != nil && ctx.Err() != nil {
		return false, exit{statusUndecided, fmt.Errorf("interrupted; `live audit --run %s` judges "+
			"what there is, `live clean --run %s` removes it", o.ID, o.ID)}
	}
	if err != nil {
		return false, notRun(fmt.Errorf("run %s of world %s: %w", o.ID, o.World.Name, err))
	}
	v, err := supervise.Judge(ctx, o.Folder, o.Env)
	if err != nil {
		return false, notRun(fmt.Errorf("run %s of world %s: %w", o.ID, o.World.Name, err))
	}
	l := newRunLine(o.ID, o.World.Name, o.Folder, v)
	l.Seed, l.WallS = o.Schedule.Seed, milli(time.Since(began).Seconds())
	if err := p.printRun(l, o.Folder, v); err != nil {
		return false, err
	}
	if !keep {
		if err := p.clean(ctx, o.Target, o.Env, o.ID); err != nil {
			return false, notRun(err)
		}
	}
	return len(v.Broken) == 0, nil
}

// runLine is what run and audit print with --json.
type runLine struct {
	Kind     string         `json:"kind"` // run
	Run      string         `json:"run"`
	Name     string         `json:"name"`    // of the world
	Verdict  string         `json:"verdict"` // held, broken
	Promise  string         `json:"promise,omitempty"`
	Witness  string         `json:"witness,omitempty"`
	Broken   []string       `json:"broken,omitempty"`
	Open     []string       `json:"open,omitempty"` // not judged: the run was interrupted
	Seed     uint64         `json:"seed"`
	Kills    int            `json:"kills"`
	Where    map[string]int `json:"where,omitempty"`  // the kills by boundary event
	Others   int            `json:"others,omitempty"` // processes that died unasked
	Unfired  []string       `json:"unfired,omitempty"`
	Events   int            `json:"events"`
	Records  int            `json:"records"`
	Objects  int            `json:"objects"`
	File     string         `json:"file"`
	Digest   string         `json:"digest"`
	VirtualS float64        `json:"virtual_s"`
	WallS    float64        `json:"wall_s"`
}

func newRunLine(id, world string, f supervise.Folder, v supervise.Verdict) runLine {
	l := runLine{
		Kind: "run", Run: id, Name: world, Verdict: "held", Open: v.Open, Where: v.Kills,
		Others: v.Others, Unfired: v.Unfired, Events: v.History.Len(), Records: v.Records,
		Objects: v.Objects, File: f.History(), Digest: v.History.Digest(),
	}
	for _, n := range v.Kills {
		l.Kills += n
	}
	for _, b := range v.Broken {
		if l.Verdict == "held" {
			l.Verdict, l.Promise, l.Witness = "broken", b.Promise, b.Witness
		}
		if !slices.Contains(l.Broken, b.Promise) {
			l.Broken = append(l.Broken, b.Promise)
		}
	}
	return l
}

// printRun prints what a run came to, and leaves it in the run's folder.
func (p *program) printRun(l runLine, f supervise.Folder, v supervise.Verdict) error {
	b, err := json.Marshal(l)
	if err == nil {
		err = os.WriteFile(filepath.Join(string(f), "result.json"), append(b, '\n'), 0o644)
	}
	if err != nil {
		return notRun(fmt.Errorf("writing the result: %w", err))
	}
	return p.say(l, "%s", l.text(v))
}

func (l runLine) text(v supervise.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", l.Name, l.Run)
	if len(v.Broken) == 0 {
		fmt.Fprintf(&b, "%d promises held", len(v.Held))
	} else {
		fmt.Fprintf(&b, "BROKEN: %s", strings.Join(l.Broken, ", "))
	}
	fmt.Fprintf(&b, "; %d kills, %d events, %d records, %d objects, %.0f s\n",
		l.Kills, l.Events, l.Records, l.Objects, l.WallS)
	const most = 10
	for i, broken := range v.Broken {
		if i == most {
			fmt.Fprintf(&b, "  and %d more\n", len(v.Broken)-most)
			break
		}
		fmt.Fprintf(&b, "  %s: %s (events %v)\n", broken.Promise, broken.Witness, broken.Seqs)
	}
	for _, place := range slices.Sorted(maps.Keys(l.Where)) {
		fmt.Fprintf(&b, "  killed %s: %d\n", place, l.Where[place])
	}
	for _, f := range l.Unfired {
		fmt.Fprintf(&b, "  never came to: %s\n", f)
	}
	if l.Others > 0 {
		fmt.Fprintf(&b, "  died unasked: %d, see the logs\n", l.Others)
	}
	if len(l.Open) > 0 {
		fmt.Fprintf(&b, "  not judged, the run was interrupted: %s\n", strings.Join(l.Open, ", "))
	}
	fmt.Fprintf(&b, "  history: %s", l.File)
	return b.String()
}

var errNoRun = errors.New("which run? --run ID, the name of its folder")
