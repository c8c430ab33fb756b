package sim

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// gate is the one way over every boundary of a run. Crossings arrive from any
// goroutine and are held; step lets one of them through at a time, when everybody
// else stands still, at the virtual instant when it is due. Which one is next
// depends on nothing but virtual time and the names of things, so two runs of the
// same schedule let the same crossings through in the same order.
type gate struct {
	seed  uint64
	start time.Time
	names *tap.Names
	plan  *schedule.Plan
	hist  *model.History
	view  *model.View
	kills map[string]int // crashes by boundary event, "after request OffsetCommit"
	// What the run does about a fault that ends a life.
	onCrash func(l *life, why string)
	onStop  func(l *life)
	// onOutage takes the brokers away until the time, onHeal brings them back.
	onOutage func(until time.Time)
	onHeal   func()
	// onDatabase does something to the database server and returns the slot's position.
	onDatabase func(how string) string

	// wake has room for one: something arrived since the last look.
	wake chan struct{}

	mu      sync.Mutex
	arrived []*tap.Crossing
	notes   []noted

	held   []*held
	paused []*life
	healed bool
}

// noted is something for the history, or something to do, that is no crossing.
type noted struct {
	life *tap.Life
	e    model.Event
	do   func()
}

// held is a crossing that waits at the gate.
type held struct {
	*tap.Crossing
	life   *life
	due    time.Time
	late   bool // a fault holds it back
	stop   bool // its process is asked to end once it has passed
	nth    int  // 0 until the gate looked at it for the first time
	faults []schedule.Fault
}

// Submit implements [tap.Gate].
func (g *gate) Submit(c *tap.Crossing) {
	g.mu.Lock()
	g.arrived = append(g.arrived, c)
	g.mu.Unlock()
	g.ring()
}

// Note implements [tap.Gate].
func (g *gate) Note(l *tap.Life, e model.Event) {
	g.mu.Lock()
	g.notes = append(g.notes, noted{life: l, e: e})
	g.mu.Unlock()
	g.ring()
}

// post has do called by the goroutine that drives the gate, in its turn among the
// notes of l.
func (g *gate) post(l *tap.Life, do func()) {
	g.mu.Lock()
	g.notes = append(g.notes, noted{life: l, do: do})
	g.mu.Unlock()
	g.ring()
}

func (g *gate) ring() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// collect takes in what arrived since the last look. Everybody stands still, so
// what arrived did so at this instant, and its order among goroutines is left out
// of account: notes are ordered by process, and a crossing's place by its names.
func (g *gate) collect() {
	g.mu.Lock()
	arrived, notes := g.arrived, g.notes
	g.arrived, g.notes = nil, nil
	g.mu.Unlock()

	slices.SortStableFunc(notes, func(a, b noted) int {
		return cmp.Or(cmp.Compare(a.life.Proc, b.life.Proc),
			cmp.Compare(a.life.Number, b.life.Number))
	})
	sortAnswers(notes)
	for _, n := range notes {
		if n.do != nil {
			n.do()
		} else if !lifeOf(n.life).over {
			g.record(n.life, n.e)
		}
	}
	now := time.Now()
	for _, c := range arrived {
		l := lifeOf(c.Life)
		if l.over {
			g.discard(&held{Crossing: c, life: l})
			continue
		}
		g.held = append(g.held, &held{Crossing: c, life: l, due: now.Add(g.latency(c))})
	}
}

// lifeOf returns what the run keeps of a life that its tap knows.
func lifeOf(l *tap.Life) *life { return l.Owner.(*life) }

// sortAnswers orders acks that stand next to each other by partition and offset, and
// answers by id: a client resolves the promises of one reply in the order of a map,
// and each may wake a goroutine of its own. Alerts are ordered by what they say.
func sortAnswers(notes []noted) {
	for i := 0; i < len(notes); {
		op := notes[i].e.Op
		j := i + 1
		for j < len(notes) && notes[j].e.Op == op && notes[j].life == notes[i].life {
			j++
		}
		switch {
		case notes[i].e.Kind == model.Alert:
			slices.SortStableFunc(notes[i:j], func(a, b noted) int {
				return cmp.Compare(a.e.Note, b.e.Note)
			})
		case op == "ack" || op == "answer":
			slices.SortStableFunc(notes[i:j], func(a, b noted) int {
				p, q := &a.e.Parts[0], &b.e.Parts[0]
				return cmp.Or(cmp.Compare(p.Topic, q.Topic),
					cmp.Compare(p.Partition, q.Partition),
					cmp.Compare(p.Records[0].Offset, q.Records[0].Offset),
					cmp.Compare(p.Records[0].ID, q.Records[0].ID))
			})
		}
		i = j
	}
}

// latency is how long a crossing takes to reach the gate's other side: below a
// millisecond for frames, some milliseconds for stores. It depends on the seed and
// on what crosses, so that different seeds interleave differently and timers of
// two processes seldom coincide.
func (g *gate) latency(c *tap.Crossing) time.Duration {
	h := mix(g.seed ^ 0x9e3779b97f4a7c15)
	e := &c.Event
	for _, s := range [...]string{c.Life.Proc, string(e.Kind), e.Op, e.Key} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 0x100000001b3
		}
		h = mix(h)
	}
	h = mix(h ^ uint64(c.Life.Number)<<32 ^ uint64(uint32(c.Corr)))
	if c.Event.Kind == model.Call || c.Event.Kind == model.Return {
		return time.Millisecond + time.Duration(h%uint64(20*time.Millisecond))
	}
	return 50*time.Microsecond + time.Duration(h%uint64(700*time.Microsecond))
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// next returns the crossing that is due first, and when; nil when nothing is held
// that time alone could let through.
func (g *gate) next() (*held, time.Time) {
	type stream struct {
		life *tap.Life
		n    uint64
	}
	var best *held
	var at time.Time
	seen := make(map[stream]bool, len(g.held))
	for _, h := range g.held {
		key := stream{h.Life, h.Stream}
		if seen[key] {
			continue // its stream has an earlier one
		}
		seen[key] = true
		due := h.due
		if h.life.pausedUntil.After(due) {
			due = h.life.pausedUntil
		}
		if best == nil || due.Before(at) || due.Equal(at) && h.compare(best) < 0 {
			best, at = h, due
		}
	}
	return best, at
}

// event is what the history says of the crossing.
func (h *held) event() model.Event {
	e := h.Event
	e.Nth = h.nth
	if h.Answers != nil {
		e.Of = h.Answers.Seq
	}
	return e
}

// compare is the canonical order of crossings that are due at the same instant.
func (h *held) compare(o *held) int {
	answer := func(k model.Kind) int {
		if k == model.Reply || k == model.Return {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(h.Life.Proc, o.Life.Proc),
		cmp.Compare(answer(h.Event.Kind), answer(o.Event.Kind)),
		cmp.Compare(h.Event.Op, o.Event.Op),
		cmp.Compare(h.Corr, o.Corr),
		cmp.Compare(h.Peer, o.Peer),
		cmp.Compare(h.Event.Key, o.Event.Key),
		cmp.Compare(h.Life.Number, o.Life.Number),
	)
}

// decide carries out what the schedule says of h, or lets it pass.
func (g *gate) decide(h *held) {
	if h.Gone() {
		g.remove(h)
		g.discard(h)
		return
	}
	h.late = false
	e := &h.Event
	if h.nth == 0 {
		h.nth = h.life.count(e.Kind, e.Op)
		if !g.healed {
			h.faults = g.plan.At(schedule.Point{
				Proc: h.Life.Proc, Life: h.Life.Number, Kind: e.Kind, Op: e.Op, Nth: h.nth,
			})
		}
	}
	verdict := tap.Verdict{Do: tap.Pass}
	var after schedule.Fault
	for len(h.faults) > 0 {
		f := h.faults[0]
		h.faults = h.faults[1:]
		switch a := f.Action(); a.Do {
		case schedule.Pause:
			g.pause(h.life, f)
			return
		case schedule.Outage:
			g.mark(h.life, model.Fault, f)
			g.onOutage(time.Now().Add(a.For))
			if h.Gone() {
				g.remove(h)
				g.discard(h)
				return
			}
		case schedule.Database:
			g.hurt(h.life, f)
			return // those who lost their connection hear of it before the event passes
		case schedule.Delay:
			h.due, h.late = time.Now().Add(a.For), true
			g.mark(h.life, model.Fault, f)
			return
		case schedule.Stop:
			g.mark(h.life, model.Stop, f)
			h.stop = true
		case schedule.Kill:
			if a.After {
				after = f
				continue
			}
			g.kill(h.life, f)
			return
		case schedule.Lose:
			g.mark(h.life, model.Fault, f)
			verdict = tap.Verdict{Do: tap.Lose}
		case schedule.Answer:
			g.mark(h.life, model.Fault, f)
			verdict = tap.Verdict{Do: tap.Answer, Code: a.Code}
		}
	}
	g.pass(h, verdict)
	if h.stop {
		g.onStop(h.life)
	}
	if after != nil {
		// The crossing takes effect, and a process that got an answer acts on it up
		// to its next boundary event: that one is held, and never happens.
		synctest.Wait()
		g.collect()
		g.kill(h.life, after)
	}
}

// pass records h and settles it.
func (g *gate) pass(h *held, v tap.Verdict) {
	g.remove(h)
	e := h.event()
	answer := e.Kind == model.Reply || e.Kind == model.Return
	switch {
	case v.Do == tap.Lose && answer, v.Do == tap.Answer && answer:
		e.Outcome = model.Unknown // what really happened is in the event all the same
	case v.Do == tap.Lose || v.Do == tap.Answer:
		e.Outcome = model.NotDone // it never took effect
	}
	h.Seq = g.record(h.Life, e).Seq
	h.Settle(v)
}

// discard forgets a crossing that nobody waits for. What it did is recorded, for
// the history tells what happened and not only what was seen.
func (g *gate) discard(h *held) {
	e := h.Event
	if e.Kind == model.Reply || e.Kind == model.Return {
		if h.nth == 0 {
			h.nth = h.life.count(e.Kind, e.Op)
		}
		e = h.event()
		e.Outcome = model.Unknown
		g.record(h.Life, e)
	}
	h.Settle(tap.Verdict{Do: tap.Drop})
}

// kill ends a life at the point of f: everything that it still wanted to do never
// happens.
func (g *gate) kill(l *life, f schedule.Fault) {
	if !l.over {
		g.kills[where(f)]++
		g.onCrash(l, f.String())
	}
}

// end severs a life and forgets what the gate held of it.
func (g *gate) end(l *life) {
	l.over = true
	l.tap.Sever()
	l.ends.end()
	g.sweep(l)
}

// sweep discards what the gate holds of a life. A call that a fault made slow is not
// its own any more: it has left, and reaches the store whether or not its process
// lives to see it.
func (g *gate) sweep(l *life) {
	mine := make([]*held, 0, 4)
	rest := g.held[:0]
	for _, h := range g.held {
		if h.life == l && !h.underway() {
			mine = append(mine, h)
		} else {
			rest = append(rest, h)
		}
	}
	clear(g.held[len(rest):])
	g.held = rest
	slices.SortStableFunc(mine, (*held).compare)
	for _, h := range mine {
		g.discard(h)
	}
}

// clear discards what is still held when a run is over: late calls of dead lives.
func (g *gate) clear() {
	left := g.held
	g.held = nil
	slices.SortStableFunc(left, (*held).compare)
	for _, h := range left {
		g.discard(h)
	}
}

// underway reports whether a crossing is on its way to a store and late.
func (h *held) underway() bool { return h.late && h.Event.Kind == model.Call }

func (g *gate) remove(h *held) {
	if i := slices.Index(g.held, h); i >= 0 {
		g.held = slices.Delete(g.held, i, i+1)
	}
}

// pause has a life stand still.
func (g *gate) pause(l *life, f schedule.Fault) {
	l.pausedUntil = time.Now().Add(f.Action().For)
	g.paused = append(g.paused, l)
	g.mark(l, model.Pause, f)
}

// hurt does to the database server what f says. The history has where its slot stands
// then.
func (g *gate) hurt(l *life, f schedule.Fault) {
	lsn := g.onDatabase(f.Action().Code)
	g.record(l.tap, model.Event{Kind: model.Fault, LSN: lsn, Note: f.String()})
}

// resume ends the pauses that are over and returns when the next one is; zero for
// none.
func (g *gate) resume() time.Time {
	var next time.Time
	now := time.Now()
	g.paused = slices.DeleteFunc(g.paused, func(l *life) bool {
		if l.over {
			return true
		}
		if l.pausedUntil.After(now) {
			if next.IsZero() || l.pausedUntil.Before(next) {
				next = l.pausedUntil
			}
			return false
		}
		g.record(l.tap, model.Event{Kind: model.Resume})
		return true
	})
	return next
}

// standing reports whether a fault still holds a process or a crossing back. What
// comes of it is part of the run: a member that wakes up after another one took over
// is when worlds break.
func (g *gate) standing() bool {
	return len(g.paused) > 0 ||
		slices.ContainsFunc(g.held, func(h *held) bool { return h.late && !h.Gone() })
}

// heal ends all faults: pauses are over, delayed crossings are due.
func (g *gate) heal() {
	g.healed = true
	now := time.Now()
	for _, h := range g.held {
		h.faults, h.late = nil, false
		if h.due.After(now.Add(time.Second)) {
			h.due = now
		}
	}
	for _, l := range g.paused {
		l.pausedUntil = now
	}
	g.onHeal()
	g.resume()
	g.record(nil, model.Event{Kind: model.Heal})
}

// where names the boundary event of a fault without its place in the run: "after
// request OffsetCommit".
func where(f schedule.Fault) string {
	when := "before"
	if f.Action().After {
		when = "after"
	}
	return when + " " + string(f.At().Kind) + " " + f.At().Op
}

// mark records that a fault took effect on a life.
func (g *gate) mark(l *life, k model.Kind, f schedule.Fault) {
	g.record(l.tap, model.Event{Kind: k, Note: f.String()})
}

// record appends e to the history at this instant.
func (g *gate) record(l *tap.Life, e model.Event) *model.Event {
	if l != nil {
		e.Proc, e.Life = l.Proc, l.Number
	}
	e.At = time.Since(g.start)
	g.names.Rename(&e)
	recorded := g.hist.Append(e)
	g.view.Apply(recorded)
	return recorded
}
