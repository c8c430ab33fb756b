package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Partitions is how many partitions the topics of progress have.
const Partitions = 2

// World is what a run runs: as a simulated world, with names that a run puts its prefix
// before (see [Names]). It is a value and holds no state of a run.
type World struct {
	Name, Says string
	Topics     []Topic
	Groups     []string // whose offsets the audit reads
	Processes  []Process
	// Values makes what flows in. It is appended to bus.Progress or, with Asked, asked of
	// the replicas of the first process.
	Values func(rng *rand.Rand, n int) [][]byte
	Asked  bool
	// Torn is objects that are there when a run begins, by key.
	Torn map[string][]byte

	Identify tap.Identify
	Describe tap.Describe
	Classify tap.Classify
	Promises []props.Property
	// Spec names the specification whose behaviours the world's histories are, At says
	// where in them the hop is; "" for none. The world then promises conforms/SPEC.
	Spec string
	At   specs.Topology

	// Drained reports whether everything that came in has gone where it must, by reads of
	// its own.
	Drained func(ctx context.Context, r Reader) (bool, error)
	// Points are the places at which faults are drawn, as a run without any shows them.
	Points []schedule.Seen
}

// Topic is a topic of a world, without the prefix of a run.
type Topic struct {
	Name       string
	Partitions int32
}

// Process is a program of a world, in as many replicas as stated. With Reader the history
// has what its consumers hand out. Last has it run once all has drained, and no fault can
// name it.
type Process struct {
	Name         string
	Replicas     int
	Reader, Last bool
	// Run is one life: nil means that its work is done, an error that it is started again.
	Run func(ctx context.Context, env Env) error
}

// Env is what one life of a process gets: the ways over its boundary.
type Env struct {
	Names   Names
	Kafka   []kgo.Opt // last into the options of every client
	Objects tap.Store
	Inbox   Inbox
	// Instance is stable over the lives of a replica, "landing-0"; Life counts from 1.
	Instance string
	Life     int
	Alert    func(what, detail string)
	Report   func(op string, counts []model.Count, note string)
}

// Inbox is where applications ask a process to do something.
type Inbox interface {
	// Next returns the next ask; false once there will be none, or ctx ended.
	Next(ctx context.Context) (Ask, bool)
	Answer(a Ask, o model.Outcome)
}

// Ask is one thing that an application asks, after At. Again asks a second time after a
// done answer, as a caller does that never saw it.
type Ask struct {
	ID         string
	At         time.Duration
	Key, Value []byte
	Again      bool
}

// Reader reads what is really there, by the plain names of a world.
type Reader interface {
	// Ends returns the end of each partition, Committed the next offset to read of each
	// that the group has committed.
	Ends(ctx context.Context, topic string) (map[int32]int64, error)
	Committed(ctx context.Context, group, topic string) (map[int32]int64, error)
	Objects() tap.Store
}

// Procs returns the names of the replicas that a schedule may name, "landing/0".
func (w World) Procs() []string {
	var all []string
	for _, p := range w.Processes {
		for i := range p.Replicas {
			if !p.Last {
				all = append(all, Replica(p.Name, i))
			}
		}
	}
	return all
}

// Replica names a replica: "landing/0".
func Replica(process string, index int) string { return process + "/" + strconv.Itoa(index) }

// Process returns the process of a replica and which of its replicas it is.
func (w World) Process(replica string) (Process, int, error) {
	name, number, _ := strings.Cut(replica, "/")
	i, err := strconv.Atoi(number)
	at := slices.IndexFunc(w.Processes, func(p Process) bool { return p.Name == name })
	if err != nil || at < 0 || i < 0 || i >= w.Processes[at].Replicas {
		return Process{}, 0, fmt.Errorf("world %s has no process %q", w.Name, replica)
	}
	return w.Processes[at], i, nil
}

// NotDrained is the alert of a run that had not drained when its time was up.
const NotDrained = "not-drained"

// Judge judges a history by the world's promises, and by the one of every world that it
// drains.
func (w World) Judge(h *model.History) []props.Broken {
	return props.Judge(h, w.AllPromises())
}

// AllPromises returns the world's promises, that of its specification, and the one that
// every world makes.
func (w World) AllPromises() []props.Property {
	return append(slices.Concat(w.Promises, w.conforms()), props.Property{
		Name: "drains/" + w.Name,
		Says: "Once faults end, everything that came in gets where it must in time.",
		Check: func(h *model.History) []props.Broken {
			for i := range h.Events() {
				e := &h.Events()[i]
				if e.Kind == model.Alert && e.Proc == "" && e.Op == NotDrained {
					return []props.Broken{{
						Witness: "the world had not drained " + e.Note + " after faults ended",
						Seqs:    []int64{e.Seq},
					}}
				}
			}
			return nil
		},
	})
}

var all = map[string]World{}

func register(w World) {
	if _, taken := all[w.Name]; taken {
		panic("worlds: world " + w.Name + " is registered twice")
	}
	all[w.Name] = w
}

// List returns the names of the worlds, sorted.
func List() []string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named returns the world with the name, or an error that lists the names.
func Named(name string) (World, error) {
	w, ok := all[name]
	if !ok {
		return World{}, fmt.Errorf("no world %q%s for live runs; there are %s",
			name, schedule.DidYouMean(name, List()), strings.Join(List(), ", "))
	}
	return w, nil
}

func alert(env Env) func(hops.Alert) {
	return func(a hops.Alert) { env.Alert(a.What, a.Detail) }
}

// committedAll reports whether the group has committed all of the topic.
func committedAll(ctx context.Context, r Reader, group, topic string) (bool, error) {
	ends, err := r.Ends(ctx, topic)
	if err != nil {
		return false, err
	}
	done, err := r.Committed(ctx, group, topic)
	if err != nil {
		return false, err
	}
	for p, end := range ends {
		if max(0, done[p]) < end {
			return false, nil
		}
	}
	return true, nil
}

// points returns the places of one replica: each operation with how often one life has it.
func points(proc string, ops map[string]int, kinds ...model.Kind) []schedule.Seen {
	var seen []schedule.Seen
	for op, most := range ops {
		for _, k := range kinds {
			seen = append(seen, schedule.Seen{Proc: proc, Op: op, Kind: k, Most: most, Lives: 1})
		}
	}
	slices.SortFunc(seen, func(a, b schedule.Seen) int {
		return strings.Compare(string(a.Kind)+a.Op, string(b.Kind)+b.Op)
	})
	return seen
}

// crossed returns the places of replicas: requests and replies, calls and returns.
func crossed(proc string, replicas int, frames, calls map[string]int) []schedule.Seen {
	var seen []schedule.Seen
	for i := range replicas {
		seen = append(seen, points(Replica(proc, i), frames, model.Request, model.Reply)...)
		seen = append(seen, points(Replica(proc, i), calls, model.Call, model.Return)...)
	}
	return seen
}
