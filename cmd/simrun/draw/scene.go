package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// Page is a history to be drawn, and what is known of it.
type Page struct {
	History *model.History
	// World is the world's name and Schedule the text of the schedule; both may be
	// empty.
	World, Schedule string
	// Judged says that Broken is a verdict; Says are the sentences of promises by
	// their names.
	Judged bool
	Broken []props.Broken
	Says   map[string]string
}

// The lanes that are no process.
const (
	application = "application"
	brokers     = "brokers"
	store       = "store"
	database    = "database"
)

// feeder is the process name under which a history shows the world's own input.
const feeder = "world/0"

// state is how a process stands.
type state string

const (
	absent state = "absent" // before its first life
	alive  state = "alive"
	paused state = "paused"
	dead   state = "dead"
	always state = "always" // lanes that are no process
)

// shape is how an event is drawn.
type shape string

const (
	arrow shape = "arrow" // from one lane to another
	lost  shape = "lost"  // an arrow that does not arrive
	dot   shape = "dot"
	cross shape = "cross" // a life ends
	bolt  shape = "bolt"  // a fault
	bar   shape = "bar"   // over all lanes
)

// row is an event as it is drawn.
type row struct {
	event    *model.Event
	shape    shape
	from, to int // lanes
	label    string
	routine  bool
	witness  []string // promises that it is a witness of
	states   []state  // of the lanes, before the event
	after    []state  // and after it
}

// scene is a history as lanes and rows.
type scene struct {
	lanes []string
	rows  []row
}

// storeCalls are the calls of an object store; all others are a database's.
var storeCalls = []string{"put", "putif", "get", "list", "delete"}

func newScene(p Page) scene {
	witness := make(map[int64][]string)
	for _, b := range p.Broken {
		for _, seq := range b.Seqs {
			if !slices.Contains(witness[seq], b.Promise) {
				witness[seq] = append(witness[seq], b.Promise)
			}
		}
	}
	s := scene{lanes: lanesOf(p.History)}
	states := make([]state, len(s.lanes))
	for i, name := range s.lanes {
		states[i] = absent
		if !strings.Contains(name, "/") || name == feeder {
			states[i] = always
		}
	}
	generations := make(map[string]int32)
	for i := range p.History.Events() {
		e := &p.History.Events()[i]
		r := s.rowOf(e)
		r.witness = witness[e.Seq]
		r.routine = routine(e, generations) && len(r.witness) == 0
		r.states = slices.Clone(states)
		if at := s.lane(e.Proc); at >= 0 && states[at] != always {
			states[at] = next(states[at], e.Kind)
		}
		r.after = slices.Clone(states)
		s.rows = append(s.rows, r)
	}
	return s
}

// lanesOf returns the applications, the processes, and what stands behind them.
func lanesOf(h *model.History) []string {
	procs := make(map[string]bool)
	has := make(map[string]bool)
	for i := range h.Events() {
		e := &h.Events()[i]
		if e.Proc != "" {
			procs[e.Proc] = true
		}
		has[other(e)] = true
	}
	var lanes []string
	if has[application] {
		lanes = append(lanes, application)
	}
	var names []string
	for name := range procs {
		if name != feeder {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if procs[feeder] {
		lanes = append(lanes, feeder)
	}
	lanes = append(lanes, names...)
	for _, name := range []string{brokers, store, database} {
		if has[name] {
			lanes = append(lanes, name)
		}
	}
	return lanes
}

// other returns the lane on the far side of an event, or "".
func other(e *model.Event) string {
	switch e.Kind {
	case model.Request, model.Reply:
		return brokers
	case model.Call, model.Return:
		if slices.Contains(storeCalls, e.Op) {
			return store
		}
		return database
	case model.Note:
		if e.Op == "ask" || e.Op == "answer" {
			return application
		}
	case model.Observe:
		if e.Key != "" {
			return store
		}
		return brokers
	}
	return ""
}

func (s scene) lane(name string) int { return slices.Index(s.lanes, name) }

func (s scene) rowOf(e *model.Event) row {
	r := row{event: e, label: label(e), shape: dot}
	r.from, r.to = s.lane(e.Proc), s.lane(other(e))
	if r.from < 0 {
		r.from = r.to
	}
	if r.to < 0 {
		r.to = r.from
	}
	if r.from != r.to {
		r.shape = arrow
	}
	switch e.Kind {
	case model.Reply, model.Return:
		r.from, r.to = r.to, r.from
		if e.Outcome == model.Unknown {
			r.shape = lost
		}
	case model.Note:
		if e.Op == "ask" {
			r.from, r.to = r.to, r.from
		}
	case model.Crash:
		r.shape = cross
	case model.Fault:
		r.shape = bolt
	case model.Heal:
		r.shape = bar
	}
	if r.from < 0 {
		r.shape = bar
	}
	return r
}

func next(s state, k model.Kind) state {
	switch k {
	case model.Start:
		return alive
	case model.Crash, model.Exit:
		return dead
	case model.Pause:
		return paused
	case model.Resume:
		if s == paused {
			return alive
		}
	}
	return s
}

// routineOps keep clients going and seldom decide anything.
var routineOps = []string{
	"Fetch", "Heartbeat", "ConsumerGroupHeartbeat", "Metadata", "ApiVersions",
	"FindCoordinator", "InitProducerID", "InitProducerId", "ListOffsets", "OffsetFetch",
	"OffsetForLeaderEpoch", "ConsumerGroupDescribe", "DescribeGroups", "send", "ack",
	"GetTelemetrySubscriptions", "PushTelemetry",
}

// routine says whether a reader can do without the event at first. A member's new
// generation is none.
func routine(e *model.Event, generations map[string]int32) bool {
	if e.Kind == model.Observe || e.Proc == feeder {
		return true
	}
	if e.Kind == model.Reply && e.Generation != 0 && generations[e.Proc] != e.Generation {
		generations[e.Proc] = e.Generation
		return false
	}
	if e.Kind != model.Note && !e.Kind.Boundary() || e.Err != "" || e.Outcome == model.Unknown {
		return false
	}
	return slices.Contains(routineOps, e.Op)
}

// How much of an event a label holds.
const (
	labelParts   = 2
	labelRecords = 3
)

// label says an event in a few words.
func label(e *model.Event) string {
	words := []string{e.Op}
	switch e.Kind {
	case model.Start:
		words = []string{fmt.Sprintf("life %d starts", e.Life)}
	case model.Crash, model.Pause, model.Stop, model.Fault:
		words = []string{string(e.Kind)}
		if e.Note != "" {
			words = []string{e.Note}
		}
	case model.Heal:
		words = []string{"faults end, everything heals"}
	case model.Exit, model.Resume:
		words = []string{string(e.Kind)}
	case model.Alert:
		words = []string{"alert " + e.Op}
	}
	if e.Kind.Boundary() && e.Nth > 0 {
		words = append(words, fmt.Sprint(e.Nth))
	}
	if e.Err != "" {
		words = append(words, e.Err)
	} else if e.Outcome == model.NotDone || e.Outcome == model.Unknown {
		words = append(words, string(e.Outcome))
	}
	if e.Key != "" {
		words = append(words, e.Key)
	} else {
		words = append(words, partsLabel(e.Parts)...)
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

func partsLabel(parts []model.Part) []string {
	var words []string
	for i, p := range parts {
		if i == labelParts {
			words = append(words, fmt.Sprintf("+%d", len(parts)-i))
			break
		}
		word := p.Topic
		if word != "" && p.Partition >= 0 {
			word += fmt.Sprintf("/%d", p.Partition)
		}
		if p.Offset >= 0 {
			word += fmt.Sprintf("@%d", p.Offset)
		}
		if p.Err != "" {
			word += " " + p.Err
		}
		words = append(words, word)
		for k, r := range p.Records {
			if k == labelRecords {
				words = append(words, fmt.Sprintf("(+%d)", len(p.Records)-k))
				break
			}
			if r.ID != "" {
				words = append(words, r.ID)
			}
		}
	}
	return words
}
