package sim

import (
	"flag"
	"fmt"
	"maps"
	"math/bits"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// Budgets of shrinking, in runs, so that what comes out does not depend on how busy
// the machine is.
const (
	rapidShrinks = 60  // for rapid's own shrinking
	faultShrinks = 200 // for the fault-by-fault shrinking on top
	replays      = 5   // of the shrunk schedule, to say how often it agrees
)

// Campaign is a series of runs of one world under random schedules. It stops at
// the first broken promise and shrinks its schedule.
type Campaign struct {
	World World
	// Mutant names the wrong program that the world runs, for the schedule file; ""
	// for the right one.
	Mutant string
	// Target, when set, is the one promise whose breaking counts.
	Target string
	// Seed makes the campaign: the same seed draws the same schedules.
	Seed uint64
	// Schedules is how many to run, default 100.
	Schedules int
	// Progress, when set, is called after every run with what is known so far, and
	// ends the campaign by returning false.
	Progress func(*Report) bool
}

// Report is what a campaign found.
type Report struct {
	World, Mutant string
	Seed          uint64
	Schedules     int // run so far, shrinking not counted
	Faults        int // faults that took effect
	// Kills counts crashes by boundary event, Seen the schedules in which each
	// "sometimes" was seen.
	Kills, Seen map[string]int
	VirtualS    float64 // virtual seconds, all runs together
	// Evidence adds up what the world counts, by name.
	Evidence map[string]int
	// Walked adds up the steps of a specification that the histories take.
	Walked map[string]int
	// Failure is nil when every promise held.
	Failure *Failure
	// Stopped says that Progress ended the campaign.
	Stopped bool
}

// Failure is a schedule under which a promise breaks.
type Failure struct {
	// Promise is the one that the schedule was shrunk for, Says its sentence.
	Promise, Says string
	// Schedule is shrunk; its digest is that of the history.
	Schedule schedule.Schedule
	// Found is the schedule as it was drawn, and Nth how many schedules it took; 0 of
	// a replay.
	Found schedule.Schedule
	Nth   int
	// Result is of the shrunk schedule's run.
	Result *Result
	// Broken are the ways in which it breaks Promise.
	Broken []props.Broken
	// Agreed of Replays runs of the shrunk schedule broke the same promise, and
	// Same gave the same history.
	Agreed, Same, Replays int
}

// Run runs the campaign. An error means that a run could not take place or could
// not be finished. The test t lends its frame and is not failed.
func (c Campaign) Run(t *testing.T) (*Report, error) {
	if !Simulates {
		return nil, ErrNeedsTag
	}
	if c.Schedules == 0 {
		c.Schedules = 100
	}
	r := c.begin(t)
	if err := r.scout(); err != nil {
		return nil, err
	}
	if r.found == nil && r.report.Schedules < r.Schedules {
		r.draw()
	}
	if r.err != nil {
		return nil, r.err
	}
	if r.found != nil {
		if err := r.shrink(); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

func (c Campaign) begin(t *testing.T) *hunt {
	return &hunt{
		Campaign: c, t: t, w: c.World.defaults(),
		report: &Report{
			World: c.World.Name, Mutant: c.Mutant, Seed: c.Seed,
			Kills: make(map[string]int), Seen: make(map[string]int),
			Evidence: make(map[string]int), Walked: make(map[string]int),
		},
	}
}

// hunt is a campaign while it goes on.
type hunt struct {
	Campaign
	t        *testing.T
	w        World
	alphabet schedule.Alphabet
	report   *Report

	err     error
	promise string
	found   *schedule.Schedule // as drawn
	best    schedule.Schedule  // the smallest so far
	shrinks int
}

func (r *hunt) schedule(seed uint64, faults []schedule.Fault) schedule.Schedule {
	return schedule.Schedule{World: r.w.Name, Mutant: r.Mutant, Seed: seed, Faults: faults}
}

// scouts is how many runs without faults show a campaign what can go wrong. One is
// not enough: a workload may happen to leave something out.
const scouts = 3

// scout runs the world without faults and learns its boundary events. The runs
// count as schedules, and may break a promise like any other.
func (r *hunt) scout() error {
	var all model.History
	for i := range uint64(min(scouts, r.Schedules)) {
		if r.report.Stopped {
			return nil
		}
		s := r.schedule(r.Seed+i, nil)
		res, err := Run(r.t, r.w, s)
		if err != nil {
			return err
		}
		for _, e := range res.History.Events() {
			all.Append(e)
		}
		if r.judge(res, s) {
			return nil
		}
	}
	r.alphabet = r.w.Alphabet(&all)
	return nil
}

// draw lets rapid draw and shrink schedules. Its flags are the process's only way
// to set its seed and bounds; they are put back.
func (r *hunt) draw() {
	defer setFlags(map[string]string{
		"rapid.checks":     strconv.Itoa(r.Schedules - r.report.Schedules),
		"rapid.seed":       strconv.FormatUint(max(r.Seed, 1), 10), // 0 means "any"
		"rapid.nofailfile": "true",
		"rapid.shrinktime": "1h", // the budget counts runs
	})()
	rapid.Check(&silent{name: r.w.Name}, func(rt *rapid.T) {
		if r.err != nil || r.report.Stopped || r.shrinks >= rapidShrinks {
			return
		}
		s := r.drawOne(rt)
		res, err := Run(r.t, r.w, s)
		if err != nil {
			r.err = err
			return
		}
		if r.judge(res, s) {
			rt.Fatalf("%s", r.promise)
		}
	})
}

func (r *hunt) drawOne(rt *rapid.T) schedule.Schedule {
	c := chooser{rt}
	seed := uint64(c.Intn("seed", 1<<20))
	o := schedule.Options{Verbs: r.w.verbs(), MaxFaults: r.w.MaxFaults}
	o = schedule.DrawSwarm(c, o).Narrow(o)
	return r.schedule(seed, schedule.Draw(c, r.alphabet, o))
}

// judge takes a run into account and reports whether it breaks what the campaign
// looks for.
func (r *hunt) judge(res *Result, s schedule.Schedule) bool {
	shrinking := r.found != nil
	broken := r.broken(res)
	if !shrinking {
		r.count(res)
	} else {
		r.shrinks++
	}
	if len(broken) == 0 {
		return false
	}
	if !shrinking {
		r.promise = broken[0].Promise
		r.found = &s
		r.report.Failure = &Failure{Promise: r.promise, Found: s, Nth: r.report.Schedules}
		r.best = s
	}
	if len(s.Faults) <= len(r.best.Faults) {
		r.best = s
	}
	return true
}

// broken returns the broken promises that count.
func (r *hunt) broken(res *Result) []props.Broken {
	target := r.Target
	if target == "" {
		target = r.promise
	}
	var out []props.Broken
	for _, b := range res.Broken {
		if target == "" || b.Promise == target {
			out = append(out, b)
		}
	}
	return out
}

func (r *hunt) count(res *Result) {
	rep := r.report
	rep.Schedules++
	rep.VirtualS += res.Virtual.Seconds()
	for where, n := range res.Kills {
		rep.Kills[where] += n
	}
	for i := range res.History.Events() {
		switch res.History.Events()[i].Kind {
		case model.Fault, model.Crash, model.Pause, model.Stop:
			rep.Faults++
		}
	}
	for _, s := range r.w.Sometimes {
		if s.Seen(res.History) {
			rep.Seen[s.Name]++
		}
	}
	for _, e := range r.w.Evidence {
		rep.Evidence[e.Name] += e.Count(res.History)
	}
	if r.w.Walked != nil {
		add(&rep.Walked, r.w.Walked(res.History))
	}
	if r.Progress != nil && !r.Progress(rep) {
		rep.Stopped = true
	}
}

// shrink makes the schedule that rapid left as small as it gets, fault by fault,
// and replays it.
func (r *hunt) shrink() error {
	tried := 0
	fails := func(faults []schedule.Fault) bool {
		if tried++; r.err != nil || tried > faultShrinks {
			return false
		}
		res, err := Run(r.t, r.w, r.schedule(r.best.Seed, faults))
		if err != nil {
			r.err = err
			return false
		}
		return len(r.broken(res)) > 0
	}
	r.best.Faults = schedule.Shrink(r.best.Faults, fails, faultShrinks)
	if one := lone(r.best.Faults, fails); one != nil {
		r.best.Faults = schedule.Shrink(one, fails, faultShrinks)
	}
	if err := r.shrinkToCrash(fails); err != nil {
		return err
	}
	return r.again()
}

// again replays the smallest schedule, and makes a failure of it.
func (r *hunt) again() error {
	f := r.report.Failure
	f.Schedule = r.best
	for range replays {
		res, err := Run(r.t, r.w, r.best)
		if err != nil {
			return err
		}
		f.Replays++
		if len(f.Broken) == 0 { // also where chance let the first ones hold
			f.Result, f.Same = res, 0
			f.Schedule.Digest = res.History.Digest()
			f.Broken = r.broken(res)
		}
		if len(r.broken(res)) > 0 {
			f.Agreed++
		}
		if res.History.Digest() == f.Schedule.Digest {
			f.Same++
		}
	}
	for _, p := range r.w.AllPromises() {
		if p.Name == f.Promise {
			f.Says = p.Says
		}
	}
	return nil
}

// shrinkToCrash tries to put one crash, a little earlier, in the place of all faults.
func (r *hunt) shrinkToCrash(fails func([]schedule.Fault) bool) error {
	if r.err != nil || len(r.best.Faults) < 2 {
		return r.err
	}
	res, err := Run(r.t, r.w, r.best)
	if err != nil {
		return err
	}
	for _, f := range earlierCrashes(res.History) {
		if one := []schedule.Fault{f}; fails(one) {
			r.best.Faults = schedule.Shrink(one, fails, faultShrinks)
			break
		}
	}
	return r.err
}

// lone looks for a single fault that does what several do together, as they are or
// one step simpler: a first fault may do no more than bring about the life in which
// the second one strikes. It returns nil where there is none.
func lone(faults []schedule.Fault, fails func([]schedule.Fault) bool) []schedule.Fault {
	if len(faults) < 2 {
		return nil
	}
	for _, f := range faults {
		for _, simpler := range f.Simpler() {
			if one := []schedule.Fault{simpler}; fails(one) {
				return one
			}
		}
	}
	return nil
}

// Merge adds what o counted to r, which must be of the same world or zero; the
// first failure of the two stays.
func (r *Report) Merge(o *Report) {
	r.Schedules += o.Schedules
	r.Faults += o.Faults
	r.VirtualS += o.VirtualS
	add(&r.Kills, o.Kills)
	add(&r.Seen, o.Seen)
	add(&r.Evidence, o.Evidence)
	add(&r.Walked, o.Walked)
	if r.Failure == nil {
		r.Failure = o.Failure
	}
	r.Stopped = r.Stopped || o.Stopped
}

func add(to *map[string]int, counts map[string]int) {
	if *to == nil {
		*to = make(map[string]int)
	}
	for k, n := range counts {
		(*to)[k] += n
	}
}

// chooser lets rapid choose, so that it can shrink the choices. Its integers prefer
// small ones, and would draw the first points of the alphabet four times as often as
// the rest; its bits are even.
type chooser struct{ t *rapid.T }

// spare bits make the choice even to one in 16.
const spare = 4

// Intn implements [schedule.Chooser].
func (c chooser) Intn(label string, n int) int {
	width := bits.Len(uint(n-1)) + spare
	drawn := uint64(0)
	for range width {
		drawn <<= 1
		if rapid.Bool().Draw(c.t, label) {
			drawn |= 1
		}
	}
	return int(drawn * uint64(n) >> width)
}

// silent is the test that rapid fails: the only message is ours.
type silent struct {
	name   string
	failed bool
}

func (s *silent) Helper()               {}
func (s *silent) Name() string          { return s.name }
func (s *silent) Logf(string, ...any)   {}
func (s *silent) Log(...any)            {}
func (s *silent) Skipf(string, ...any)  {}
func (s *silent) Skip(...any)           {}
func (s *silent) SkipNow()              {}
func (s *silent) Errorf(string, ...any) { s.failed = true }
func (s *silent) Error(...any)          { s.failed = true }
func (s *silent) Fatalf(string, ...any) { s.failed = true }
func (s *silent) Fatal(...any)          { s.failed = true }
func (s *silent) FailNow()              { s.failed = true }
func (s *silent) Fail()                 { s.failed = true }
func (s *silent) Failed() bool          { return s.failed }

// setFlags sets flags of the process and returns what puts them back.
func setFlags(values map[string]string) (restore func()) {
	old := make(map[string]string)
	set := func(m map[string]string) {
		for _, name := range sortedKeys(m) {
			if err := flag.Set(name, m[name]); err != nil {
				panic(fmt.Sprintf("sim: setting -%s: %v", name, err))
			}
		}
	}
	for name := range values {
		old[name] = flag.Lookup(name).Value.String()
	}
	set(values)
	return func() { set(maps.Clone(old)) }
}
