package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// How long a drained world goes on, virtual: with faults that have not struck yet,
// and at the end, so that what processes still have in hand gets done.
const (
	quiet  = 10 * time.Second
	settle = time.Second
)

// dialTime is how long a new connection takes, virtual, and dialApart how much longer
// it takes to each further broker.
const (
	dialTime  = 300 * time.Microsecond
	dialApart = 7 * time.Microsecond
)

// refusedAfter is how long a dial takes to fail while the brokers are away: clients
// that dial again at once would hold virtual time up.
const refusedAfter = 250 * time.Millisecond

// Result is what one run left behind.
type Result struct {
	History *model.History
	// Broken are the promises that the history breaks.
	Broken []props.Broken
	// Drained says whether the world drained within its liveness bound.
	Drained bool
	// Virtual is how long the run took on its own clock.
	Virtual time.Duration
	// Kills counts the crashes by boundary event: "after request OffsetCommit".
	Kills map[string]int
	// Unfired are the faults whose point never came.
	Unfired []schedule.Fault
}

// Run plays one schedule in world w, in a bubble of virtual time, and judges the
// history. An error means that the run could not take place or could not be
// finished; a broken promise is no error. Runs are one at a time: Run must not be
// called concurrently, since it seeds what the process has only one of.
//
// The test t lends the bubble its frame and is not failed.
func Run(t *testing.T, w World, s schedule.Schedule) (*Result, error) {
	if !Simulates {
		return nil, ErrNeedsTag
	}
	w = w.defaults()
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := s.Check(w.Procs()); err != nil {
		return nil, err
	}
	steady()
	defer watch(w.Name, s)()
	var res *Result
	var err error
	func() {
		// A goroutine of the world that never ends is a deadlock of the bubble,
		// which panics here. What the run itself found out says more.
		defer func() {
			if p := recover(); p != nil && err == nil {
				err = fmt.Errorf("world %s, seed %d: %w: %v", w.Name, s.Seed, errLeft, p)
			}
		}()
		synctest.Test(t, func(*testing.T) { res, err = play(w, s) })
	}()
	if err != nil {
		return nil, err
	}
	res.Broken = w.Judge(res.History)
	return res, nil
}

// run is one run while it goes on.
type run struct {
	world    World
	gate     *gate
	network  *kfake.VirtualNetwork
	cluster  *kfake.Cluster
	brokers  []string
	admin    *kgo.Client // the world's own, not tapped
	objects  *Objects
	database *database.DB // nil for none
	outside  any          // the user's own
	asks     *asks
	stopping chan struct{}
	over     bool
	last     last

	mu      sync.Mutex
	lives   []*life
	fed     bool
	feedErr error

	away time.Time // until when no connection can be made; under mu

	running sync.WaitGroup // goroutines of lives, dead ones too
}

// play is one run inside the bubble.
func play(w World, s schedule.Schedule) (*Result, error) {
	restore := seedRandomness(s.Seed)
	defer restore()
	r, err := newRun(w, s)
	if err != nil {
		return nil, err
	}

	rng := rand.New(rand.NewPCG(s.Seed, 0x68_6f_70))
	var asked []Ask
	if w.Asks != nil {
		asked = w.Asks(rng)
	}
	if err := w.checkAsks(asked); err != nil {
		return nil, err
	}
	r.asks = newAsks(r.gate.start, asked, w.Processes)
	var inputs []Input
	if w.Input != nil {
		inputs = w.Input(rng)
	}
	go r.feed(inputs)
	// Processes start a little apart, so that their timers do not coincide.
	apart := 1300 * time.Microsecond
	for _, p := range w.Processes {
		if p.Last {
			continue
		}
		for i := range p.Replicas {
			rep := &replica{run: r, process: p, index: i}
			time.AfterFunc(apart, rep.supervise)
			apart += 1700 * time.Microsecond
		}
	}
	drained := r.drive()
	virtual := time.Since(r.gate.start)
	r.finish(drained)
	auditErr := r.audit()
	if err := r.close(); err != nil {
		return nil, fmt.Errorf("world %s, seed %d: %w", w.Name, s.Seed, err)
	}
	if r.feedErr != nil {
		return nil, fmt.Errorf("world %s, seed %d: %w", w.Name, s.Seed, r.feedErr)
	}
	if auditErr != nil {
		return nil, fmt.Errorf("audit of world %s, seed %d: %w", w.Name, s.Seed, auditErr)
	}
	return &Result{
		History: r.gate.hist, Drained: drained, Virtual: virtual,
		Kills: r.gate.kills, Unfired: r.gate.plan.Unfired(),
	}, nil
}

func newRun(w World, s schedule.Schedule) (*run, error) {
	r := &run{
		world: w, network: new(kfake.VirtualNetwork), objects: w.objects(),
		stopping: make(chan struct{}),
	}
	ports := make([]int, w.Brokers)
	for i := range ports {
		ports[i] = 9092 + i
		r.brokers = append(r.brokers, fmt.Sprintf("127.0.0.1:%d", ports[i]))
	}
	var err error
	r.cluster, err = kfake.NewCluster(
		kfake.Ports(ports...), kfake.ListenFn(r.network.Listen),
		kfake.BrokerConfigs(w.BrokerConfigs),
	)
	if err != nil {
		return nil, fmt.Errorf("starting the brokers of world %s: %w", w.Name, err)
	}
	r.admin, err = kgo.NewClient(
		kgo.SeedBrokers(r.brokers...), kgo.Dialer(r.network.DialContext),
		kgo.DisableClientMetrics(),
	)
	if err != nil {
		r.cluster.Close()
		return nil, fmt.Errorf("starting the world's own client: %w", err)
	}
	names := tap.NewNames(w.Identify)
	names.ClassifyWith(w.Classify)
	if err := createTopics(r.admin, names, w.Topics); err != nil {
		r.admin.Close()
		r.cluster.Close()
		return nil, err
	}
	if w.Database != nil {
		r.database = w.Database()
	}
	if w.Outside != nil {
		r.outside = w.Outside()
	}
	r.gate = &gate{
		seed: s.Seed, start: time.Now(), names: names, plan: schedule.NewPlan(s.Faults),
		hist: new(model.History), view: model.NewView(), kills: make(map[string]int),
		wake: make(chan struct{}, 1), onCrash: r.crash, onStop: r.stop,
		onOutage: r.outage, onHeal: r.comeBack, onDatabase: r.hurt,
	}
	return r, nil
}

// dial connects to a broker in the time that a connection takes, a little more to each
// further one, so that two dials of one instant do not come back at one instant.
func (r *run) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	select {
	case <-time.After(dialTime + dialApart*time.Duration(slices.Index(r.brokers, addr))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return r.network.DialContext(ctx, network, addr)
}

// dialUnlessAway is how processes dial: not while the brokers are away. The world
// itself is not held up.
func (r *run) dialUnlessAway(ctx context.Context, network, addr string) (net.Conn, error) {
	if !r.brokersAway() {
		return r.dial(ctx, network, addr)
	}
	select {
	case <-time.After(refusedAfter):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, &net.OpError{
		Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}
}

// outage takes the brokers away until the time: every process's connections break, and
// none can be made before. What they stored stays, and their clocks go on.
func (r *run) outage(until time.Time) {
	r.mu.Lock()
	r.away = until
	r.mu.Unlock()
	for _, l := range r.known() {
		if !l.over && l.tap.Proc != feeder {
			l.tap.Break()
		}
	}
}

// comeBack ends an outage.
func (r *run) comeBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = time.Time{}
}

func (r *run) brokersAway() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.away)
}

// control has do called by the goroutine that drives the gate.
func (r *run) control(l *life, do func()) { r.gate.post(l.tap, do) }

// drive lets crossings through until the world has drained or its time is up, and
// reports whether it drained. It is the only goroutine that waits for the others to
// stand still.
func (r *run) drive() bool {
	g := r.gate
	safetyEnds := g.start.Add(r.world.Safety)
	var drainedAt, healedAt time.Time
	for {
		synctest.Wait()
		g.collect()
		now := time.Now()
		resumes := g.resume() // before anything that a process does from here on
		if !r.drained() || g.standing() {
			drainedAt = time.Time{}
		} else if drainedAt.IsZero() {
			drainedAt = now
		}
		if r.last.done() {
			return true
		}
		var next time.Time // when this phase ends, as things stand
		switch {
		case r.last.began():
			next = r.last.until
		case g.healed:
			next = healedAt.Add(r.world.Liveness)
		default:
			next = safetyEnds
		}
		if !drainedAt.IsZero() && !r.last.began() {
			wait := settle
			if !g.healed && len(g.plan.Unfired()) > 0 {
				wait = quiet
			}
			next = earlier(next, drainedAt.Add(wait))
		}
		if !now.Before(next) {
			if g.healed {
				if drainedAt.IsZero() || !r.startLast(now) {
					return !drainedAt.IsZero() && !r.last.began()
				}
				continue
			}
			healedAt, drainedAt = now, time.Time{} // who stood still has things in hand
			g.heal()
			continue
		}
		h, due := g.next()
		if h != nil && !due.After(now) {
			g.decide(h)
			continue
		}
		if h != nil {
			next = earlier(next, due)
		}
		if !resumes.IsZero() {
			next = earlier(next, resumes)
		}
		g.rest(next)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// rest waits until something arrives or the time comes.
func (g *gate) rest(until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-g.wake:
	case <-timer.C:
	}
}

// known returns the lives so far.
func (r *run) known() []*life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lives)
}

// drained reports whether everything that came in is where it belongs.
func (r *run) drained() bool {
	r.mu.Lock()
	fed := r.fed
	r.mu.Unlock()
	return fed && r.asks.idle() && (r.world.Drained == nil || r.world.Drained(r.gate.view))
}

// finish ends every life: the run is over, and the audit wants to be alone. What
// brokers and stores did and nobody heard of is recorded.
func (r *run) finish(drained bool) {
	r.over = true
	if !drained {
		r.gate.record(nil, model.Event{
			Kind: model.Alert, Op: notDrained, Note: r.world.Liveness.String(),
		})
	}
	close(r.stopping)
	var open []*life
	for _, l := range r.known() {
		if !l.over {
			open = append(open, l)
		}
	}
	slices.SortFunc(open, func(a, b *life) int { return strings.Compare(a.tap.Proc, b.tap.Proc) })
	for _, l := range open {
		r.gate.end(l)
	}
	r.gate.clear()
}

// unwinding is how long the goroutines of dead processes may take to end, virtual.
// A client that is closed without a network gives up within minutes.
const unwinding = time.Hour

// close waits until every goroutine of the run has ended: virtual time stops with
// the run, and what still waits then would wait for ever.
func (r *run) close() error {
	r.admin.Close()
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(unwinding):
		var stuck []string
		for _, l := range r.known() {
			if !l.returned.Load() {
				stuck = append(stuck, fmt.Sprintf("%s life %d", l.tap.Proc, l.tap.Number))
			}
		}
		slices.Sort(stuck)
		return fmt.Errorf("%w: %s", ErrStuck, strings.Join(stuck, ", "))
	}
	r.cluster.Close()
	time.Sleep(time.Minute) // what the brokers and clients started ends by itself
	return nil
}

// ErrStuck is what a run gets whose processes do not end although their context
// is done, their client closed, and their store out of reach.
var ErrStuck = errors.New("processes did not return after their end; " +
	"a Run must return when its context is done or its client is closed")

// errLeft is what a run gets when goroutines outlive it that are none of the lives'
// own.
var errLeft = errors.New("a process started a goroutine that outlives its Run and the " +
	"closing of its client; it must end with them")

// oneLine makes text fit for one line of a history.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ErrNeedsTag is what a build without the tag synctests gets instead of a run.
var ErrNeedsTag = errors.New("this build cannot simulate: franz-go's mutexes stop virtual " +
	"time unless it is built with the tag; type go test -tags synctests, or " +
	"go run -tags synctests")
