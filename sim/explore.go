package sim

import (
	"fmt"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// MaxExplored is the most faults of a schedule that an exploration goes to.
const MaxExplored = 2

// followTries is how often a first fault is run again where other events follow it than
// before: the runtime leaves a little to chance.
const followTries = 5

// Exploration is every schedule of up to so many faults, of one world with one workload:
// first the one without faults; then one fault at each event that this shows, in the
// order of [schedule.Enumerate]; then each of those with a second fault, in the same
// order, at each event that comes after the first one has struck. So the second is drawn
// from what the first brings about, lives after a crash too, and a pair of faults is run
// once, in the order in which they strike. Two faults at one event are not tried.
// Durations and error codes are those that campaigns draw from.
//
// It stops at the first broken promise.
type Exploration struct {
	World World
	// Mutant and Target are those of a [Campaign].
	Mutant, Target string
	// Seed makes the workload, and is that of all schedules.
	Seed uint64
	// Faults is the most of one schedule: 1, which is the default, or 2.
	Faults int
	// Limit is the most schedules to run; 0: all.
	Limit int
	// Progress, when set, is called after every run with what is known so far, and
	// ends the exploration by returning false.
	Progress func(*Report) bool
}

// Explored is what an exploration found.
type Explored struct {
	Report
	// Ran is how many schedules of so many faults were run, of the Of that there are. How
	// many there are of two faults is known once all of one have been run. Of parts, Of
	// counts what can be added to what they ran, and what they put right.
	Ran, Of [MaxExplored + 1]int
	// Idle is how many schedules had a fault whose event did not come.
	Idle int
	// Lost is at least how many schedules were left out: the first fault, run again for a
	// part, was not followed by as many events as before. A part that is the whole of Next
	// loses nothing: it is made of what follows now, and Of is put right.
	Lost int
	// Next is how many schedules add one more fault to each that was run, where that is
	// within the bound.
	Next []Next
}

// Next is how many schedules there are that have First and one more fault.
type Next struct {
	First schedule.Fault // nil for none
	Of    int
}

// Part is the schedules number From to To, from 0 and without To, of those that add one
// fault to First.
type Part struct {
	Next
	From, To int
}

// Exhausted says that every schedule there is was run, and nothing broke.
func (x *Explored) Exhausted() bool {
	return x.Failure == nil && x.Lost == 0 && x.Ran[0] > 0 && x.Ran[1] >= x.Of[1] &&
		x.Ran[2] >= x.Of[2]
}

// Run runs the exploration. An error means that a run could not take place or could not
// be finished. The test t lends its frame and is not failed.
func (e Exploration) Run(t *testing.T) (*Explored, error) {
	x, err := e.begin(t)
	if err != nil {
		return nil, err
	}
	x.plain()
	for n := 0; n < len(x.Next); n++ { // Next grows with every single fault
		x.part(Part{Next: x.Next[n], To: x.Next[n].Of})
	}
	return x.end()
}

// RunParts runs parts of the exploration in their order, for one that many processes
// share; without parts it runs the schedule without faults. Next of what one returns is
// what the parts of others are made from.
func (e Exploration) RunParts(t *testing.T, parts []Part) (*Explored, error) {
	x, err := e.begin(t)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		x.plain()
	}
	for _, p := range parts {
		x.part(p)
	}
	return x.end()
}

// explorer is an exploration while it goes on.
type explorer struct {
	Exploration
	Explored
	hunt *hunt
}

func (e Exploration) begin(t *testing.T) (*explorer, error) {
	if !Simulates {
		return nil, ErrNeedsTag
	}
	if e.Faults == 0 {
		e.Faults = 1
	}
	if e.Faults < 0 || e.Faults > MaxExplored {
		return nil, fmt.Errorf("exploring world %s: %d faults in a schedule; want 1 or %d",
			e.World.Name, e.Faults, MaxExplored)
	}
	c := Campaign{
		World: e.World, Mutant: e.Mutant, Target: e.Target, Seed: e.Seed, Progress: e.Progress,
	}
	return &explorer{Exploration: e, hunt: c.begin(t)}, nil
}

// over reports whether nothing more is to be run.
func (x *explorer) over() bool {
	h := x.hunt
	return h.err != nil || h.found != nil || h.report.Stopped ||
		x.Limit > 0 && h.report.Schedules >= x.Limit
}

// plain runs the schedule without faults.
func (x *explorer) plain() {
	x.Of[0] = 1
	x.run(nil)
}

// part runs a part, until something breaks or the limit is reached.
func (x *explorer) part(p Part) {
	if x.over() || p.From >= p.To {
		return
	}
	var first []schedule.Fault
	if p.First != nil {
		first = append(first, p.First)
	}
	added, err := x.added(first, p.Of)
	if err != nil {
		x.hunt.err = err
		return
	}
	to := min(p.To, len(added))
	switch other := len(added) - p.Of; {
	case other != 0 && p.From == 0 && p.To == p.Of:
		// The whole is what follows now: chance had it otherwise before.
		to = len(added)
		x.Of[len(first)+1] += other
	case other != 0:
		x.Lost += max(1, p.To-max(p.From, len(added)))
	}
	for i := p.From; i < to && !x.over(); i++ {
		x.run(append(first[:len(first):len(first)], added[i]))
	}
}

// added returns what can be added to the faults, of which there were so many before.
func (x *explorer) added(faults []schedule.Fault, of int) ([]schedule.Fault, error) {
	var added []schedule.Fault
	for range followTries {
		res, err := Run(x.hunt.t, x.hunt.w, x.hunt.schedule(x.Exploration.Seed, faults))
		if err != nil {
			return nil, err
		}
		if added = x.hunt.w.following(res.History, faults); len(added) == of {
			break
		}
	}
	return added, nil
}

// run runs one schedule.
func (x *explorer) run(faults []schedule.Fault) {
	s := x.hunt.schedule(x.Exploration.Seed, faults)
	res, err := Run(x.hunt.t, x.hunt.w, s)
	if err != nil {
		x.hunt.err = err
		return
	}
	x.Ran[len(faults)]++
	if len(res.Unfired) > 0 {
		x.Idle++
	}
	if x.hunt.judge(res, s) || len(faults) == x.Faults {
		return
	}
	next := Next{Of: len(x.hunt.w.following(res.History, faults))}
	if len(faults) > 0 {
		next.First = faults[0]
	}
	x.Next = append(x.Next, next)
	x.Of[len(faults)+1] += next.Of
}

// end makes the failure small and returns what is known.
func (x *explorer) end() (*Explored, error) {
	h := x.hunt
	if h.err == nil && h.found != nil {
		h.err = x.drop()
	}
	if h.err != nil {
		return nil, h.err
	}
	x.Explored.Report = *h.report
	return &x.Explored, nil
}

// drop leaves one of two faults out where the other breaks the promise alone, and
// replays what is left. More shrinking there is not: what is simpler was run before.
func (x *explorer) drop() error {
	h := x.hunt
	if len(h.best.Faults) > 1 {
		for _, f := range h.found.Faults {
			one := h.schedule(x.Exploration.Seed, []schedule.Fault{f})
			res, err := Run(h.t, h.w, one)
			if err != nil {
				return err
			}
			if len(h.broken(res)) > 0 {
				h.best = one
				break
			}
		}
	}
	return h.again()
}

// following returns every fault that can be added to those under which h came about, in
// the order of [schedule.Enumerate]: at the events that come after the faults have
// struck. There is none where they did not strike.
func (w World) following(h *model.History, faults []schedule.Fault) []schedule.Fault {
	struck := make(map[string]schedule.Point)
	for _, f := range faults {
		struck[f.String()] = f.At()
	}
	type life struct {
		proc   string
		number int
	}
	places := make(map[schedule.Point]bool)
	dead := make(map[life]bool) // what they had asked for may still come: nobody is there
	for i := range h.Events() {
		e := &h.Events()[i]
		delete(struck, e.Note) // the event that says that the fault struck
		switch {
		case e.Kind == model.Crash:
			dead[life{e.Proc, e.Life}] = true
		case e.Kind.Boundary() && len(struck) == 0 && !dead[life{e.Proc, e.Life}]:
			places[schedule.PointOf(e)] = true
		}
	}
	for _, f := range faults {
		delete(places, f.At())
	}
	var all []schedule.Fault
	for f := range schedule.Enumerate(w.Alphabet(h), w.verbs()) {
		if places[f.At()] {
			all = append(all, f)
		}
	}
	return all
}

// Explore runs world w under every schedule of up to so many faults, 1 or 2, and fails t
// at the first that breaks a promise, as [Check] does: see [Exploration] for which there
// are and in what order. The log says how many were run, and whether these are all.
// World.Verbs narrows what goes wrong; crashes alone are the usual bound for two faults.
// Of the options, Schedules is the most to run, by default all, and Seed is that of the
// workload. The flags of Check apply. What must be seen sometimes is not asked for: one
// fault may not be enough to show it.
//
// t must be a *testing.T that has no parallel siblings: runs are one at a time.
func Explore(t testing.TB, w World, faults int, opts ...Option) {
	t.Helper()
	tt, c, ok := prepare(t, w, opts)
	if !ok {
		return
	}
	x, err := Exploration{World: w, Seed: c.Seed, Faults: faults, Limit: c.Schedules}.Run(tt)
	if err != nil {
		t.Fatal(err)
	}
	if x.Failure != nil {
		failed(t, x.Failure)
	}
	t.Log("hopcheck: " + x.Says())
}

// Says returns one line about how far the exploration went.
func (x *Explored) Says() string {
	far := "all there are"
	if !x.Exhausted() {
		far = "not all there are"
	}
	out := fmt.Sprintf("%s run, %s: %d of %d with one fault", count(x.Schedules, "schedule"),
		far, x.Ran[1], x.Of[1])
	if x.Of[2] > 0 {
		out += fmt.Sprintf(", %d of %d with two", x.Ran[2], x.Of[2])
	}
	if x.Idle > 0 {
		out += fmt.Sprintf("; %d had a fault whose event did not come", x.Idle)
	}
	return out
}
