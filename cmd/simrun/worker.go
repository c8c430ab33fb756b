package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// workerCommand is the hidden argument that makes a worker of the program.
const workerCommand = "worker"

// often is how often a worker says how it goes.
const often = 100 * time.Millisecond

// work is a worker: one job, and the process ends. A worker whose parent is gone
// dies of writing to nobody.
func work(in io.Reader, out io.Writer) {
	signal.Ignore(os.Interrupt) // a Ctrl-C reaches all of us, and the parent decides
	w := worker{out: json.NewEncoder(out)}
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		w.say(message{Err: "reading the job: " + err.Error()})
		os.Exit(0)
	}
	sim.InFrame(func(f sim.Frame) int {
		w.Frame = f
		m, err := w.do(j)
		if err != nil {
			m = message{Err: err.Error()}
		}
		w.say(m)
		return 0
	})
}

type worker struct {
	sim.Frame
	out *json.Encoder
}

func (w worker) say(m message) {
	if err := w.out.Encode(m); err != nil {
		os.Exit(statusNotRun) // nobody listens
	}
}

func (w worker) do(j job) (message, error) {
	world, err := j.build()
	if err != nil {
		return message{}, err
	}
	if j.Explore != nil {
		x, err := w.explore(world, j)
		return message{Explored: x}, err
	}
	if len(j.Tries) > 0 {
		t, err := w.search(world, j)
		return message{Tried: t}, err
	}
	if j.Schedule != "" {
		r, err := w.replay(world, j)
		return message{Replay: r}, err
	}
	c, err := w.campaign(world, j)
	return message{Campaign: c}, err
}

func (w worker) campaign(world sim.World, j job) (*campaign, error) {
	var events []string
	if j.Scout {
		var err error
		if events, err = w.scout(world, j.Seed); err != nil {
			return nil, err
		}
	}
	var said time.Time
	r, err := w.Campaign(sim.Campaign{
		World: world, Mutant: j.Mutant, Target: j.Target, Seed: j.Seed, Schedules: j.Schedules,
		Progress: func(r *sim.Report) bool {
			if now := time.Now(); now.Sub(said) > often {
				said = now
				t := tallyOf(r)
				w.say(message{Progress: &t})
			}
			return j.Until.IsZero() || time.Now().Before(j.Until)
		},
	})
	if err != nil {
		return nil, err
	}
	c := &campaign{tally: tallyOf(r), Events: events}
	if r.Failure != nil {
		c.Failure, err = pack(r.Failure)
	}
	return c, err
}

func pack(f *sim.Failure) (*failure, error) {
	if f.Result == nil {
		return nil, errors.New("a failure without a run")
	}
	h, err := historyText(f.Result.History)
	if err != nil {
		return nil, fmt.Errorf("writing the history: %w", err)
	}
	return &failure{
		Promise: f.Promise, Schedule: f.Schedule.String(), Found: f.Found.String(), Nth: f.Nth,
		Agreed: f.Agreed, Same: f.Same, Replays: f.Replays, History: h,
	}, nil
}

// scout returns the sorts of boundary event of a run without faults.
func (w worker) scout(world sim.World, seed uint64) ([]string, error) {
	r, err := w.Run(world, schedule.Schedule{World: world.Name, Seed: seed})
	if err != nil {
		return nil, err
	}
	var sorts []string
	for _, seen := range world.Alphabet(r.History).Points {
		sorts = append(sorts, string(seen.Kind)+" "+seen.Op)
	}
	slices.Sort(sorts)
	return slices.Compact(sorts), nil
}

func (w worker) replay(world sim.World, j job) (*replay, error) {
	s, err := schedule.Parse(strings.NewReader(j.Schedule))
	if err != nil {
		return nil, err
	}
	r, err := w.Replay(world, s)
	if err != nil {
		return nil, err
	}
	out := &replay{
		Same: r.Same, Tries: r.Tries, Broke: r.Broke, Drained: r.Result.Drained,
		Virtual: r.Result.Virtual.Seconds(),
	}
	for _, f := range r.Result.Unfired {
		out.Unfired = append(out.Unfired, f.String())
	}
	out.History, err = historyText(r.Result.History)
	return out, err
}
