package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// The flags of a test binary that uses Check.
var (
	replayFlag = flag.String("hopcheck.replay", "",
		"replay this schedule file instead of running a campaign")
	seedFlag = flag.Uint64("hopcheck.seed", 0,
		"seed of the campaign; 0: a new one from the clock, which is printed")
	schedulesFlag = flag.Int("hopcheck.schedules", 0,
		"how many schedules to run; 0: what the test says")
)

// savedSchedules is where Check keeps the schedules that broke a promise.
const savedSchedules = "testdata/schedules"

// Option changes how [Check] goes about it.
type Option func(*Campaign)

// Schedules sets how many random schedules Check runs; the default is 100.
func Schedules(n int) Option { return func(c *Campaign) { c.Schedules = n } }

// Seed sets the seed of Check's campaign; the default is 1, so that a test runs
// the same schedules every time. The flag -hopcheck.seed goes before it.
func Seed(seed uint64) Option { return func(c *Campaign) { c.Seed = seed } }

// Check runs world w under random schedules and fails t at the first broken
// promise, with a message that ends in the command that replays it. The shrunk
// schedule is saved under testdata/schedules, and every later Check of the world
// tries the saved schedules first: they are regression tests, to be committed.
//
// t must be a *testing.T that has no parallel siblings: runs are one at a time.
func Check(t testing.TB, w World, opts ...Option) {
	t.Helper()
	tt, c, ok := prepare(t, w, opts)
	if !ok {
		return
	}
	report, err := c.Run(tt)
	if err != nil {
		t.Fatal(err)
	}
	if report.Failure != nil {
		failed(t, report.Failure)
	}
	for _, s := range w.Sometimes {
		if report.Seen[s.Name] == 0 {
			t.Errorf("never seen in %d schedules: %s (%s): the promises may hold only because "+
				"nothing happened", report.Schedules, s.Name, s.Says)
		}
	}
}

// prepare returns the campaign that options and flags ask for, where there is still
// something to run: not after a replay that a flag asks for, nor after a saved schedule
// that broke a promise.
func prepare(t testing.TB, w World, opts []Option) (*testing.T, Campaign, bool) {
	t.Helper()
	c := Campaign{World: w, Seed: 1}
	tt, ok := t.(*testing.T)
	if !ok {
		t.Fatalf("hopcheck needs a *testing.T, not a %T: virtual time runs in its frame", t)
		return nil, c, false
	}
	if !Simulates {
		t.Fatal(ErrNeedsTag)
	}
	if *replayFlag != "" {
		checkReplay(tt, w, *replayFlag)
		return tt, c, false
	}
	if !checkSaved(tt, w) {
		return tt, c, false
	}
	for _, o := range opts {
		o(&c)
	}
	if *schedulesFlag > 0 {
		c.Schedules = *schedulesFlag
	}
	if seedSet() {
		if c.Seed = *seedFlag; c.Seed == 0 {
			c.Seed = clockSeed()
		}
		t.Logf("hopcheck: seed %d", c.Seed)
	}
	return tt, c, true
}

// failed saves the schedule of a failure and fails t with it.
func failed(t testing.TB, f *Failure) {
	t.Helper()
	path, err := SaveSchedule(savedSchedules, f.Schedule)
	if err != nil {
		t.Fatalf("%s\nsaving the schedule: %v", f.Message("not saved"), err)
	}
	t.Fatal("\n" + f.Message(replayCommand(t.Name(), path)))
}

func seedSet() bool {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "hopcheck.seed" })
	return set
}

func replayCommand(test, path string) string {
	return fmt.Sprintf("go test -tags synctests -run '^%s$' . -hopcheck.replay %s",
		regexp.QuoteMeta(test), path)
}

// SaveSchedule writes s to dir as <world>-<seed>.schedule, whole or not at all, and
// returns the path.
func SaveSchedule(dir string, s schedule.Schedule) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	name := s.World
	if s.Mutant != "" {
		name += "-" + s.Mutant
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.schedule", name, s.Seed))
	return path, s.Save(path)
}

// checkReplay runs one schedule file.
func checkReplay(t *testing.T, w World, path string) {
	t.Helper()
	s, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.World != w.Name {
		t.Skipf("%s is a schedule of world %s, not of %s", path, s.World, w.Name)
	}
	replayed(t, w, s, path)
}

// checkSaved tries the schedules that failed before and reports whether all
// promises held.
func checkSaved(t *testing.T, w World) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(savedSchedules, "*.schedule"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		s, err := schedule.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if s.World == w.Name && !replayed(t, w, s, path) {
			return false
		}
	}
	return true
}

func replayed(t *testing.T, w World, s schedule.Schedule, path string) bool {
	t.Helper()
	r, err := Replay(t, w, s)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Logf("%s: %s", path, r.Says(s.Digest))
	if f := r.Failure(w, s); f != nil {
		t.Fatal("\n" + f.Message(replayCommand(t.Name(), path)))
	}
	return true
}

// Failure returns what the replay broke, in the form of a campaign's failure; nil
// when every promise held.
func (r *Replayed) Failure(w World, s schedule.Schedule) *Failure {
	if len(r.Result.Broken) == 0 {
		return nil
	}
	f := &Failure{
		Promise: r.Result.Broken[0].Promise, Schedule: s, Found: s, Result: r.Result,
		Agreed: r.Broke, Replays: r.Tries,
	}
	if r.Same {
		f.Same = 1
	}
	for _, b := range r.Result.Broken {
		if b.Promise == f.Promise {
			f.Broken = append(f.Broken, b)
		}
	}
	for _, p := range w.AllPromises() {
		if p.Name == f.Promise {
			f.Says = p.Says
		}
	}
	return f
}

// house: real clock because a new seed must come from somewhere.

func clockSeed() uint64 { return uint64(time.Now().UnixNano()) }
