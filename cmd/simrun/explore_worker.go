package main

import (
	"time"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// exploration is the part of a worker's job that explores: without parts, the schedule
// without faults.
type exploration struct {
	Bound int       `json:"bound"` // most faults of a schedule of the whole exploration
	Verbs []string  `json:"verbs"` // none: the world's own
	Parts []portion `json:"parts,omitempty"`
}

// following is a sim.Next on its way between processes.
type following struct {
	First string `json:"first,omitempty"`
	Of    int    `json:"of"`
}

// portion is a sim.Part on its way between processes.
type portion struct {
	following
	From int `json:"from"`
	To   int `json:"to"`
}

// explored is what a worker found.
type explored struct {
	tally
	Idle    int         `json:"idle,omitempty"`
	Lost    int         `json:"lost,omitempty"`
	Recount int         `json:"recount,omitempty"` // how many more there were than was said
	Next    []following `json:"next,omitempty"`
	Events  []string    `json:"events,omitempty"` // of the schedule without faults
	Failure *failure    `json:"failure,omitempty"`
}

func (s portion) part() (sim.Part, error) {
	p := sim.Part{Next: sim.Next{Of: s.Of}, From: s.From, To: s.To}
	if s.First == "" {
		return p, nil
	}
	var err error
	p.First, err = schedule.ParseFault(s.First)
	return p, err
}

// explore does the part of an exploration that is in j.
func (w worker) explore(world sim.World, j job) (*explored, error) {
	if len(j.Explore.Verbs) > 0 {
		world.Verbs = j.Explore.Verbs
	}
	var parts []sim.Part
	for _, s := range j.Explore.Parts {
		p, err := s.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	out := new(explored)
	var err error
	if len(parts) == 0 {
		if out.Events, err = w.scout(world, j.Seed); err != nil {
			return nil, err
		}
	}
	var said time.Time
	x, err := w.Explore(sim.Exploration{
		World: world, Mutant: j.Mutant, Target: j.Target, Seed: j.Seed, Faults: j.Explore.Bound,
		Progress: func(r *sim.Report) bool {
			if now := time.Now(); now.Sub(said) > often {
				said = now
				t := tallyOf(r)
				w.say(message{Progress: &t})
			}
			return true
		},
	}, parts)
	if err != nil {
		return nil, err
	}
	out.tally, out.Idle, out.Lost = tallyOf(&x.Report), x.Idle, x.Lost
	for i := range parts {
		if parts[i].First != nil {
			out.Recount = x.Of[2]
		} else {
			out.Recount = x.Of[1]
		}
	}
	for _, n := range x.Next {
		f := following{Of: n.Of}
		if n.First != nil {
			f.First = n.First.String()
		}
		out.Next = append(out.Next, f)
	}
	if x.Failure != nil {
		out.Failure, err = pack(x.Failure)
	}
	return out, err
}
