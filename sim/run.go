package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// quiet is how long a drained world waits for faults that have not struck yet,
// virtual.
const quiet = 10 * time.Second

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
	if err := s.Check(w.Procs()); err != nil {
		return nil, err
	}
	steady()
	defer watch(w.Name, s)()
	var res *Result
	var err error
	func() {
		// A goroutine of the world that never ends is a deadlock of the bubble,
		// which panics here.
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("world %s, seed %d: %v", w.Name, s.Seed, p)
			}
		}()
		synctest.Test(t, func(*testing.T) { res, err = play(w, s) })
	}()
	if err != nil {
		return nil, err
	}
	res.Broken = props.Judge(res.History, w.Promises)
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
	asks     *asks
	stopping chan struct{}
	over     bool

	mu    sync.Mutex
	lives map[*tap.Life]*life
	fed   bool
}

// play is one run inside the bubble.
func play(w World, s schedule.Schedule) (*Result, error) {
	restore := seedRandomness(s.Seed)
	defer restore()
	r, err := newRun(w, s)
	if err != nil {
		return nil, err
	}
	defer r.cluster.Close()
	defer r.admin.Close()

	rng := rand.New(rand.NewPCG(s.Seed, 0x68_6f_70))
	if w.Asks != nil {
		r.asks = newAsks(r.gate.start, w.Asks(rng))
	} else {
		r.asks = newAsks(r.gate.start, nil)
	}
	var inputs []Input
	if w.Input != nil {
		inputs = w.Input(rng)
	}
	go r.feed(inputs)
	// Processes start a little apart, so that their timers do not coincide.
	apart := 1300 * time.Microsecond
	for _, p := range w.Processes {
		for i := range p.Replicas {
			rep := &replica{run: r, process: p, index: i}
			time.AfterFunc(apart, rep.supervise)
			apart += 1700 * time.Microsecond
		}
	}
	drained := r.drive()
	r.finish()
	if err := r.audit(); err != nil {
		return nil, fmt.Errorf("audit of world %s, seed %d: %w", w.Name, s.Seed, err)
	}
	return &Result{
		History: r.gate.hist, Drained: drained, Virtual: time.Since(r.gate.start),
		Kills: r.gate.kills, Unfired: r.gate.plan.Unfired(),
	}, nil
}

func newRun(w World, s schedule.Schedule) (*run, error) {
	r := &run{
		world: w, network: new(kfake.VirtualNetwork), objects: NewObjects(),
		stopping: make(chan struct{}), lives: make(map[*tap.Life]*life),
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
	if err := createTopics(r.admin, names, w.Topics); err != nil {
		r.admin.Close()
		r.cluster.Close()
		return nil, err
	}
	r.gate = &gate{
		seed: s.Seed, start: time.Now(), names: names, plan: schedule.NewPlan(s.Faults),
		hist: new(model.History), view: model.NewView(), kills: make(map[string]int),
		wake: make(chan struct{}, 1), onCrash: r.crash, onStop: r.stop,
	}
	return r, nil
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
		g.collect(r.known())
		now := time.Now()
		next := safetyEnds
		switch drained := r.drained(); {
		case g.healed && drained:
			return true
		case g.healed:
			next = healedAt.Add(r.world.Liveness)
			if !now.Before(next) {
				return false
			}
		case !drained:
			drainedAt = time.Time{}
		case drainedAt.IsZero():
			drainedAt = now
			fallthrough
		default:
			if quietEnds := drainedAt.Add(quiet); quietEnds.Before(next) {
				next = quietEnds
			}
			if len(g.plan.Unfired()) == 0 {
				next = now
			}
		}
		if !g.healed && !now.Before(next) {
			healedAt = now
			g.heal()
			continue
		}
		if resumes := g.resume(); !resumes.IsZero() && resumes.Before(next) {
			next = resumes
		}
		h, due := g.next()
		if h != nil && !due.After(now) {
			g.decide(h)
			continue
		}
		if h != nil && due.Before(next) {
			next = due
		}
		g.rest(next)
	}
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

func (r *run) known() map[*tap.Life]*life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives
}

// drained reports whether everything that came in is where it belongs.
func (r *run) drained() bool {
	r.mu.Lock()
	fed := r.fed
	r.mu.Unlock()
	return fed && r.asks.idle() && (r.world.Drained == nil || r.world.Drained(r.gate.view))
}

// finish ends every life without a trace in the history: the run is over, and the
// audit wants to be alone.
func (r *run) finish() {
	r.over = true
	close(r.stopping)
	for _, l := range r.known() {
		l.silent = true
	}
	for _, l := range r.known() {
		r.gate.end(l)
	}
}

// oneLine makes text fit for one line of a history.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ErrNeedsTag is what a build without the tag synctests gets instead of a run.
var ErrNeedsTag = errors.New("this build cannot simulate: franz-go's mutexes stop virtual " +
	"time unless it is built with -tags synctests; type: go test -tags synctests ./...")
