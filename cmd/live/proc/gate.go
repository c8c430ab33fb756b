package proc

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// How long a life that dies after an event goes on, until the event has taken effect.
const (
	// answerIn is for a request or a call: its answer says that it was applied. A Fetch
	// or a JoinGroup may be answered much later, and then it has arrived long since.
	answerIn = 3 * time.Second
	// actOnIt is what a process gets to act on an answer, up to its next boundary event,
	// which is held.
	actOnIt = 100 * time.Millisecond
)

// Supervisor is what a life asks of the process that started it. Its methods return when
// it is done.
type Supervisor interface {
	// Fired says that a fault is about to strike.
	Fired(f schedule.Fault)
	// Pause stops this process by SIGSTOP, and goes on with it after d.
	Pause(d time.Duration)
	// Outage kills the broker at the address, "" for any, and starts it after d. It returns
	// when the broker is gone.
	Outage(peer string, d time.Duration)
	// Database does to the database what the code says.
	Database(code string)
}

// Gate lets the crossings of one life through in the order of their arrival, in real
// time: each is written down, and what the schedule says of it is done. It implements
// [tap.Gate].
type Gate struct {
	file *File
	plan *schedule.Plan
	sup  Supervisor
	// Stop asks this process to end, Die kills it by SIGKILL and does not return.
	stop, die func()

	mu      sync.Mutex
	arrived []arrival
	wake    chan struct{}

	// What follows belongs to the goroutine of Run.
	held   map[uint64][]*held // by stream; the first of each is late
	counts map[counted]int
	healed bool
}

type arrival struct {
	crossing *tap.Crossing
	do       func()
}

type counted struct {
	kind model.Kind
	op   string
}

type held struct {
	*tap.Crossing
	nth    int
	faults []schedule.Fault
}

// GateConfig says what a gate does. A nil Plan has no faults, and then it needs no more
// than a File.
type GateConfig struct {
	File *File
	Plan *schedule.Plan
	Sup  Supervisor
	Stop func() // asks this process to end, as SIGTERM does
	Die  func() // SIGKILL to this process; does not return
}

// NewGate returns a gate. Nothing passes until [Gate.Run].
func NewGate(c GateConfig) *Gate {
	if c.Plan == nil {
		c.Plan = schedule.NewPlan(nil)
	}
	return &Gate{
		file: c.File, plan: c.Plan, sup: c.Sup, stop: c.Stop, die: c.Die,
		wake: make(chan struct{}, 1), held: make(map[uint64][]*held),
		counts: make(map[counted]int),
	}
}

// Submit implements [tap.Gate].
func (g *Gate) Submit(c *tap.Crossing) { g.put(arrival{crossing: c}) }

// Note implements [tap.Gate].
func (g *Gate) Note(_ *tap.Life, e model.Event) { g.file.Record(e) }

// Heal ends all faults: no further one strikes, and what one holds back goes on.
func (g *Gate) Heal() {
	g.put(arrival{do: func() {
		g.healed = true
		for _, stream := range slices.Sorted(maps.Keys(g.held)) {
			for _, h := range g.held[stream] {
				h.faults = nil
			}
			g.release(stream)
		}
	}})
}

func (g *Gate) put(a arrival) {
	g.mu.Lock()
	g.arrived = append(g.arrived, a)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *Gate) take() []arrival {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := g.arrived
	g.arrived = nil
	return all
}

// Run lets crossings through until done is closed.
func (g *Gate) Run(done <-chan struct{}) {
	for {
		for _, a := range g.take() {
			if a.do != nil {
				a.do()
				continue
			}
			g.arrive(&held{Crossing: a.crossing})
		}
		select {
		case <-g.wake:
		case <-done:
			return
		}
	}
}

// arrive decides about a crossing unless an earlier one of its stream waits.
func (g *Gate) arrive(h *held) {
	if line := g.held[h.Stream]; len(line) > 0 {
		g.held[h.Stream] = append(line, h)
		return
	}
	if late := g.decide(h); late > 0 {
		g.hold(h, late)
	}
}

func (g *Gate) hold(h *held, late time.Duration) {
	g.held[h.Stream] = append([]*held{h}, g.held[h.Stream]...)
	stream := h.Stream
	time.AfterFunc(late, func() { g.put(arrival{do: func() { g.release(stream) }}) })
}

// release goes on with a stream whose first crossing was late.
func (g *Gate) release(stream uint64) {
	line := g.held[stream]
	delete(g.held, stream)
	for i, h := range line {
		if late := g.decide(h); late > 0 {
			g.held[stream] = line[i+1:]
			g.hold(h, late)
			return
		}
	}
}

// decide carries out what the schedule says of h, or lets it pass. It returns by how much
// h is late where it must wait.
func (g *Gate) decide(h *held) time.Duration {
	if h.Gone() {
		g.discard(h)
		return 0
	}
	e := &h.Event
	if h.nth == 0 {
		h.nth = g.count(e)
		if !g.healed {
			h.faults = g.plan.At(schedule.Point{
				Proc: h.Life.Proc, Life: h.Life.Number, Kind: e.Kind, Op: e.Op, Nth: h.nth,
			})
		}
	}
	verdict := tap.Verdict{Do: tap.Pass}
	var stops bool
	var after schedule.Fault
	for len(h.faults) > 0 {
		f := h.faults[0]
		h.faults = h.faults[1:]
		g.sup.Fired(f)
		switch a := f.Action(); a.Do {
		case schedule.Kill:
			if !a.After {
				g.kill(f, h)
			}
			after = f
		case schedule.Delay:
			g.mark(model.Fault, f)
			return a.For
		case schedule.Stop:
			g.mark(model.Stop, f)
			stops = true
		case schedule.Lose:
			g.mark(model.Fault, f)
			verdict = tap.Verdict{Do: tap.Lose}
		case schedule.Answer:
			g.mark(model.Fault, f)
			verdict = tap.Verdict{Do: tap.Answer, Code: a.Code}
		default:
			g.outside(f, h)
		}
	}
	if h.Gone() { // a broker went down under it
		g.discard(h)
		return 0
	}
	g.pass(h, verdict)
	if stops {
		g.stop()
	}
	if after != nil {
		g.linger(h)
		g.kill(after, nil)
	}
	return 0
}

// outside has the supervisor do what the process cannot do to itself.
func (g *Gate) outside(f schedule.Fault, h *held) {
	switch a := f.Action(); a.Do {
	case schedule.Pause:
		g.mark(model.Pause, f)
		g.sup.Pause(a.For)
		g.file.Record(model.Event{Kind: model.Resume})
	case schedule.Outage:
		g.mark(model.Fault, f)
		g.sup.Outage(h.Peer, a.For)
	case schedule.Database:
		g.sup.Database(a.Code)
		g.mark(model.Fault, f)
	}
}

func (g *Gate) count(e *model.Event) int {
	at := counted{e.Kind, e.Op}
	g.counts[at]++
	return g.counts[at]
}

func (h *held) event() model.Event {
	e := h.Event
	e.Nth = h.nth
	if h.Answers != nil {
		e.Of = h.Answers.Seq
	}
	return e
}

func (h *held) answer() bool { return h.Event.Kind == model.Reply || h.Event.Kind == model.Return }

// pass writes h down and settles it.
func (g *Gate) pass(h *held, v tap.Verdict) {
	e := h.event()
	switch {
	case v.Do == tap.Pass:
	case h.answer():
		e.Outcome = model.Unknown // what really happened is in the event all the same
	default:
		e.Outcome = model.NotDone // it never took effect
	}
	h.Seq = g.file.Record(e)
	h.Settle(v)
}

// discard forgets a crossing that nobody waits for. What was done is written down.
func (g *Gate) discard(h *held) {
	if e, ok := g.unheard(h); ok {
		g.file.Record(e)
	}
	h.Settle(tap.Verdict{Do: tap.Drop})
}

// unheard is what the history says of an answer that the process never saw.
func (g *Gate) unheard(h *held) (model.Event, bool) {
	if !h.answer() {
		return model.Event{}, false
	}
	if h.nth == 0 {
		h.nth = g.count(&h.Event)
	}
	e := h.event()
	e.Outcome = model.Unknown
	return e, true
}

func (g *Gate) mark(k model.Kind, f schedule.Fault) {
	g.file.Record(model.Event{Kind: k, Note: f.String()})
}

// linger waits until h has taken effect, while everything else is held.
func (g *Gate) linger(h *held) {
	wait := answerIn
	if h.answer() {
		wait = actOnIt
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	seen := 0
	for {
		g.mu.Lock()
		for ; seen < len(g.arrived); seen++ {
			c := g.arrived[seen].crossing
			if c != nil && c.Answers == h.Crossing && !h.answer() {
				g.mu.Unlock()
				return
			}
		}
		g.mu.Unlock()
		select {
		case <-g.wake:
		case <-over.C:
			return
		}
	}
}

// kill ends this process at the point of f: what it still wanted to do never happens. The
// answers that were on their way to it are written down.
func (g *Gate) kill(f schedule.Fault, h *held) {
	last := []model.Event{{Kind: model.Crash, Note: f.String()}}
	add := func(h *held) {
		if e, ok := g.unheard(h); ok {
			last = append(last, e)
		}
	}
	if h != nil {
		add(h)
	}
	for _, stream := range slices.Sorted(maps.Keys(g.held)) {
		for _, h := range g.held[stream] {
			add(h)
		}
	}
	for _, a := range g.take() {
		if a.crossing != nil {
			add(&held{Crossing: a.crossing})
		}
	}
	g.file.End(last...)
	g.die()
}
