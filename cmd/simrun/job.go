package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/mutants"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// scene names what runs: a registered world, perhaps with a mutant in it, perhaps
// fed with events of the user's.
type scene struct {
	World  string   `json:"world"`
	Mutant string   `json:"mutant,omitempty"`
	Events [][]byte `json:"events,omitempty"`
	// Loose leaves out whether histories are behaviours of a specification.
	Loose bool `json:"loose,omitempty"`
}

// build makes the world of a scene. Its errors are the user's to mend.
func (s scene) build() (sim.World, error) {
	if s.Mutant != "" {
		m, err := mutants.Named(s.Mutant)
		switch {
		case err != nil:
			return sim.World{}, err
		case m.World.Name != s.World:
			return sim.World{}, fmt.Errorf("mutant %s lives in world %s, not in %s",
				m.Name, m.World.Name, s.World)
		case s.Events != nil:
			return sim.World{}, fmt.Errorf("mutant %s comes with its own events", m.Name)
		}
		return m.World, nil
	}
	e, err := worlds.Named(s.World)
	if err != nil {
		return sim.World{}, err
	}
	w := e.World
	switch {
	case s.Events != nil && e.WithEvents == nil:
		return sim.World{}, fmt.Errorf("world %s takes no events", s.World)
	case s.Events != nil:
		w = stretch(e.WithEvents(s.Events))
	}
	if s.Loose {
		w = worlds.WithoutConformance(w)
	}
	return w, nil
}

// safety is the time for faults after the last thing that comes in, virtual.
const safety = 2 * time.Minute

// stretch makes the time for faults as long as what comes in takes.
func stretch(w sim.World) sim.World {
	last := time.Duration(0)
	if w.Input != nil {
		for _, in := range w.Input(rand.New(rand.NewPCG(1, 1))) {
			last = max(last, in.At)
		}
	}
	if w.Asks != nil {
		for _, ask := range w.Asks(rand.New(rand.NewPCG(1, 1))) {
			last = max(last, ask.At)
		}
	}
	w.Safety = max(w.Safety, last+safety)
	return w
}

// job is what a worker does: a campaign of one batch, or one replay.
type job struct {
	scene
	// A campaign has a seed, a number of schedules, and an end of its time where
	// that is bounded. Target is the one promise whose breaking counts.
	Seed      uint64    `json:"seed,omitempty"`
	Schedules int       `json:"schedules,omitempty"`
	Until     time.Time `json:"until,omitzero"`
	Target    string    `json:"target,omitempty"`
	// Scout asks for the boundary events of a run without faults.
	Scout bool `json:"scout,omitempty"`
	// A replay has a schedule.
	Schedule string `json:"schedule,omitempty"`
	// A search has schedules, which are run until one breaks Target.
	Tries []string `json:"tries,omitempty"`
	// An exploration has a seed, too.
	Explore *exploration `json:"explore,omitempty"`
}

func (j job) String() string {
	name := "world " + j.World
	if j.Mutant != "" {
		name = "mutant " + j.Mutant
	}
	if j.Schedule != "" {
		return "replay of " + name
	}
	return fmt.Sprintf("%s, seed %d", name, j.Seed)
}

// message is a line that a worker writes: how it goes, or how it ended.
type message struct {
	Progress *tally    `json:"progress,omitempty"`
	Campaign *campaign `json:"campaign,omitempty"`
	Replay   *replay   `json:"replay,omitempty"`
	Tried    *tried    `json:"tried,omitempty"`
	Explored *explored `json:"explored,omitempty"`
	Err      string    `json:"err,omitempty"`
}

// tally is what a campaign counts.
type tally struct {
	Schedules int            `json:"schedules"`
	Faults    int            `json:"faults"`
	VirtualS  float64        `json:"virtual_s"`
	Kills     map[string]int `json:"kills"`
	Seen      map[string]int `json:"seen"`
	Evidence  map[string]int `json:"evidence"`
	Walked    map[string]int `json:"walked"`
}

func tallyOf(r *sim.Report) tally {
	return tally{r.Schedules, r.Faults, r.VirtualS, r.Kills, r.Seen, r.Evidence, r.Walked}
}

func newTally() tally {
	return tally{
		Kills: make(map[string]int), Seen: make(map[string]int), Evidence: make(map[string]int),
		Walked: make(map[string]int),
	}
}

func (t *tally) add(o tally) {
	t.Schedules += o.Schedules
	t.Faults += o.Faults
	t.VirtualS += o.VirtualS
	addCounts(t.Kills, o.Kills)
	addCounts(t.Seen, o.Seen)
	addCounts(t.Evidence, o.Evidence)
	addCounts(t.Walked, o.Walked)
}

func addCounts(to, from map[string]int) {
	for name, n := range from {
		to[name] += n
	}
}

// kills is the number of all crashes.
func (t *tally) kills() int {
	n := 0
	for _, k := range t.Kills {
		n += k
	}
	return n
}

func sorted(counts map[string]int) []string { return slices.Sorted(maps.Keys(counts)) }

// campaign is how one batch ended.
type campaign struct {
	tally
	Events  []string `json:"events,omitempty"` // "request OffsetCommit", where scouted
	Failure *failure `json:"failure,omitempty"`
}

// failure is a sim.Failure on its way between processes.
type failure struct {
	Promise  string `json:"promise"`
	Schedule string `json:"schedule"`
	Found    string `json:"found"`
	Nth      int    `json:"nth"`
	Agreed   int    `json:"agreed"`
	Same     int    `json:"same"`
	Replays  int    `json:"replays"`
	History  string `json:"history"`
}

// replay is how one replay ended.
type replay struct {
	History string   `json:"history"`
	Same    bool     `json:"same"`
	Tries   int      `json:"tries"`
	Broke   int      `json:"broke"`
	Unfired []string `json:"unfired,omitempty"`
	Drained bool     `json:"drained"`
	Virtual float64  `json:"virtual_s"`
}

func historyText(h *model.History) (string, error) {
	var b bytes.Buffer
	err := h.WriteText(&b)
	return b.String(), err
}

// open makes a sim.Failure of a failure that another process sent.
func (f *failure) open(w sim.World) (*sim.Failure, error) {
	s, err := schedule.Parse(strings.NewReader(f.Schedule))
	if err != nil {
		return nil, fmt.Errorf("reading a worker's schedule: %w", err)
	}
	found, err := schedule.Parse(strings.NewReader(f.Found))
	if err != nil {
		return nil, fmt.Errorf("reading a worker's schedule: %w", err)
	}
	h, err := model.Read(strings.NewReader(f.History))
	if err != nil {
		return nil, fmt.Errorf("reading a worker's history: %w", err)
	}
	out := &sim.Failure{
		Promise: f.Promise, Schedule: s, Found: found, Nth: f.Nth,
		Agreed: f.Agreed, Same: f.Same, Replays: f.Replays,
	}
	judgeInto(out, w, h)
	return out, nil
}

// judgeInto gives a failure its history and what that breaks of its promise.
func judgeInto(f *sim.Failure, w sim.World, h *model.History) {
	f.Result = &sim.Result{History: h, Broken: w.Judge(h)}
	f.Broken = nil
	for _, b := range f.Result.Broken {
		if b.Promise == f.Promise {
			f.Broken = append(f.Broken, b)
		}
	}
	f.Says = sentence(w, f.Promise)
}

// sentence returns what a promise of the world says.
func sentence(w sim.World, promise string) string {
	i := slices.IndexFunc(w.AllPromises(), func(p props.Property) bool { return p.Name == promise })
	if i < 0 {
		return ""
	}
	return w.AllPromises()[i].Says
}
