package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// World is what a campaign runs: the topics, the processes, what flows in, and
// what must hold. A World is a value and holds no state of a run; its functions
// are called from one run at a time.
type World struct {
	Name string
	// Says is one line for people: what the world is.
	Says string

	Topics    []Topic
	Processes []Process
	// Input is what is appended to topics from outside, at what virtual time. It
	// must depend on rng alone.
	Input func(rng *rand.Rand) []Input
	// Asks is what applications ask of processes, spread over their replicas' inboxes.
	// It must depend on rng alone.
	Asks func(rng *rand.Rand) []Ask

	// Identify and Describe let the history say what records and objects are; nil
	// is fine, and then identities are digests.
	Identify tap.Identify
	Describe tap.Describe
	// Classify lets the history say which records the application's contract
	// rejects, and what it counts the others under; nil leaves that out.
	Classify tap.Classify

	// Promises must hold in every run. Sometimes must be seen at least once in a
	// campaign.
	Promises  []props.Property
	Sometimes []props.Sometimes
	// Evidence is what a campaign adds up over its runs, for people to read.
	Evidence []props.Evidence
	// Walked says how often a history takes each step of a specification, by name, for
	// a campaign to add up. It is asked once the promises are judged. Nil: there is no
	// specification.
	Walked func(h *model.History) map[string]int

	// Drained reports whether everything that came in has gone where it must. It
	// is asked again and again, of what the history says so far. Nil means yes, once
	// every input and ask is through.
	Drained func(v *model.View) bool
	// Groups are the consumer groups whose offsets the audit reads.
	Groups []string

	// Verbs are the kinds of fault that make sense here; empty means all, without those
	// to a database that the world does not have.
	Verbs []string
	// MaxFaults bounds the faults of one drawn schedule. Default 4.
	MaxFaults int
	// Safety bounds the time in which faults happen, Liveness the time in which
	// the world must drain after they end. Virtual ns; defaults 2 and 5 minutes.
	Safety, Liveness time.Duration

	// Stored is the objects that are in the store when a run begins, by key. ListPage is
	// how many keys the store gives in one page of a listing, 0 for as many as asked.
	Stored   map[string][]byte
	ListPage int

	// Database returns the database of a run, as it is when the run begins. Nil: there is
	// none.
	Database func() *database.DB
	// Outside returns what else is there for as long as a run and outlives every process:
	// fakes of servers of the program's own. Nil: nothing.
	Outside func() any

	// Brokers is the number of brokers, default 1. BrokerConfigs are kfake's.
	Brokers       int
	BrokerConfigs map[string]string
}

// Topic is a topic of a world.
type Topic struct {
	Name       string
	Partitions int32
	Configs    map[string]string
}

// Process is a program under test: as many replicas of it as stated, each
// started again when it dies.
type Process struct {
	Name     string
	Replicas int // default 1
	// Reader has the history say what the process's consumers hand out: a note
	// "seen" for each record that it polls.
	Reader bool
	// Last has it run once the world has drained, when no fault can strike any more: a
	// reader that says what the run has come to. A schedule cannot name it.
	Last bool
	// Run is one life. It returns when the program ends: nil means that its work
	// is done, an error that the supervisor shall start it again. A cancelled ctx
	// asks it to end gracefully, as SIGTERM does. A panic of Run is an error: the
	// process died of it. One of a goroutine that Run started ends the program.
	Run func(ctx context.Context, env Env) error
}

// Env is what one life of a process gets from the world: the ways over its
// boundary.
type Env struct {
	// Kafka goes last into the options of every client that the program makes.
	Kafka []kgo.Opt
	// Objects is an object store.
	Objects tap.Store
	// Database is the world's database, nil where it has none. What the life has open in
	// it ends with the life.
	Database tap.Database
	// Call takes any other call over the boundary: to a database, a cache or a service
	// of the program's own, so that a schedule can kill at it, lose it, delay it or
	// answer it with an error. See [tap.Life.Call].
	Call func(ctx context.Context, c tap.Call) error
	// Outside is what the world's Outside returned for this run. OnEnd has f called when
	// this life is over, by a kill or by its own return: what it has open in Outside ends
	// with it, as a connection does. f must not block.
	Outside any
	OnEnd   func(f func())
	// Inbox is where applications ask the process to do something.
	Inbox *Inbox
	// Instance is stable over the lives of one replica, "landing-0"; Replica
	// counts from 0, Life from 1.
	Instance      string
	Replica, Life int
	// Alert calls an operator.
	Alert func(what, detail string)
	// Report says what the process found, for promises to judge and people to read: the
	// history has it as a note.
	Report func(op string, counts []model.Count, note string)
	// Rand is for what a process chooses at random: it depends on the run's seed, the
	// replica and the life. It is not safe for concurrent use.
	Rand *rand.Rand
}

// Input is one record that the world appends to a topic.
type Input struct {
	At         time.Duration // virtual ns since the run began
	Topic      string
	Key, Value []byte
}

// Ask is one thing that an application asks of a process.
type Ask struct {
	Process    string        // who is asked, "": the first process of the world
	At         time.Duration // virtual ns since the run began
	Topic      string        // what the ask is about, "" where the world leaves no doubt
	ID         string
	Key, Value []byte
	// Again asks a second time after a done answer, as a caller does that never
	// saw it.
	Again bool
}

// defaults returns w with what was left out.
func (w World) defaults() World {
	if w.MaxFaults == 0 {
		w.MaxFaults = 4
	}
	if w.Safety == 0 {
		w.Safety = 2 * time.Minute
	}
	if w.Liveness == 0 {
		w.Liveness = 5 * time.Minute
	}
	if w.Brokers == 0 {
		w.Brokers = 1
	}
	processes := make([]Process, len(w.Processes))
	for i, p := range w.Processes {
		p.Replicas = max(p.Replicas, 1)
		processes[i] = p
	}
	w.Processes = processes
	return w
}

// check returns an error that says what of w makes no sense; w has its defaults.
func (w World) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("world %q: %s", w.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case !schedule.ValidName(w.Name):
		return wrong("a schedule file cannot hold this name; use letters, digits and -._/")
	case len(w.Processes) == 0:
		return wrong("it has no process, so nothing is tested; give it one in Processes")
	}
	seen := make(map[string]bool)
	for _, p := range w.Processes {
		switch {
		case !schedule.ValidName(replicaName(p.Name, 0)) || p.Name == "":
			return wrong("process name %q: use letters, digits and -._/", p.Name)
		case seen[p.Name] || replicaName(p.Name, 0) == feeder:
			return wrong("process name %q is taken; give it another", p.Name)
		case p.Run == nil:
			return wrong("process %s has no Run", p.Name)
		}
		seen[p.Name] = true
	}
	topics := make(map[string]bool)
	for _, t := range w.Topics {
		switch {
		case topics[t.Name]:
			return wrong("topic %q is there twice", t.Name)
		case t.Partitions < 1:
			return wrong("topic %q has %d partitions; it needs 1 at least", t.Name, t.Partitions)
		}
		topics[t.Name] = true
	}
	return schedule.Options{Verbs: w.Verbs}.Check()
}

// checkAsks returns an error if an ask is for a process that w does not have.
func (w World) checkAsks(asked []Ask) error {
	for _, a := range asked {
		known := slices.ContainsFunc(w.Processes, func(p Process) bool {
			return a.Process == "" || a.Process == p.Name
		})
		if !known {
			return fmt.Errorf("world %q: ask %s is for a process %q that it does not have",
				w.Name, a.ID, a.Process)
		}
	}
	return nil
}

// Procs returns the names of the replicas of the world's processes, "landing/0",
// in order: what a schedule may name.
func (w World) Procs() []string {
	var names []string
	for _, p := range w.defaults().Processes {
		for i := range p.Replicas {
			if p.Last {
				continue
			}
			names = append(names, replicaName(p.Name, i))
		}
	}
	return names
}

// Alphabet returns the places that a history shows and a schedule of w may name.
func (w World) Alphabet(h *model.History) schedule.Alphabet {
	procs := w.Procs()
	a := schedule.Observe(h)
	a.Points = slices.DeleteFunc(a.Points, func(s schedule.Seen) bool {
		return !slices.Contains(procs, s.Proc)
	})
	return a
}

// notDrained is the alert of a run whose liveness phase ended too early for it.
const notDrained = "not-drained"

// Judge judges a history by the world's promises, and by one that every world
// makes: that it drains once faults have ended.
func (w World) Judge(h *model.History) []props.Broken {
	return props.Judge(h, w.AllPromises())
}

// AllPromises returns the world's promises and the one that every world makes.
func (w World) AllPromises() []props.Property {
	drains := props.Property{
		Name: "drains/" + w.Name,
		Says: "Once faults end, everything that came in gets where it must within " +
			w.defaults().Liveness.String() + ".",
		Check: func(h *model.History) []props.Broken {
			for i := range h.Events() {
				e := &h.Events()[i]
				if e.Kind == model.Alert && e.Proc == "" && e.Op == notDrained {
					return []props.Broken{{
						Witness: "the world had not drained " + e.Note + " after faults ended",
						Seqs:    []int64{e.Seq},
					}}
				}
			}
			return nil
		},
		Holds:  "1 0s - heal\n",
		Breaks: "1 0s - heal\n2 300s - alert " + notDrained + " note=5m0s\n",
	}
	return append(slices.Clone(w.Promises), drains)
}
