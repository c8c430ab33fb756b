package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Times of the supervisor, virtual.
const (
	firstRestart = time.Second
	lastRestart  = 10 * time.Second
	// grace is what a life gets between being asked to stop and being killed.
	grace = 30 * time.Second
)

// errNoReturn is how a life ends whose goroutine was ended under it.
var errNoReturn = errors.New("the life ended without returning")

// life is one incarnation of a replica. The fields of its second group belong to
// the goroutine that drives the gate.
type life struct {
	tap      *tap.Life
	cancel   context.CancelFunc // what SIGTERM is to a process
	killed   chan struct{}
	returned atomic.Bool       // its Run did
	session  *database.Session // nil where the world has no database
	ends     ends              // of what the life has open outside

	asked       bool // was asked to stop
	over        bool // severed: what it does no longer counts
	pausedUntil time.Time
	counts      map[kindOp]int
}

type kindOp struct {
	kind model.Kind
	op   string
}

func newLife(proc string, number int, g *gate, cancel context.CancelFunc) *life {
	l := &life{
		tap:    tap.NewLife(proc, number, g, g.names),
		cancel: cancel,
		killed: make(chan struct{}),
		counts: make(map[kindOp]int),
	}
	l.tap.Owner = l
	return l
}

func (l *life) count(k model.Kind, op string) int {
	l.counts[kindOp{k, op}]++
	return l.counts[kindOp{k, op}]
}

// kill makes the supervisor start the next life. The goroutines of this one
// unwind by themselves: nothing that they do has an effect any more.
func (l *life) kill() { close(l.killed) }

// replica is one replica of a process and the sequence of its lives.
type replica struct {
	run     *run
	process Process
	index   int
}

func replicaName(process string, index int) string {
	return fmt.Sprintf("%s/%d", process, index)
}

// supervise starts life after life until the work is done or the run is over.
func (r *replica) supervise() {
	wait := firstRestart
	for number := 1; ; number++ {
		select {
		case <-r.run.stopping:
			return
		default:
		}
		l, ended := r.begin(number)
		select {
		case <-r.run.stopping:
			return
		case <-l.killed:
		case done := <-ended:
			if done {
				return
			}
		}
		select {
		case <-r.run.stopping:
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, lastRestart)
	}
}

// begin starts a life. The channel says, once the life ended by itself, whether
// its work is done; it stays silent after a kill.
func (r *replica) begin(number int) (*life, <-chan bool) {
	ctx, cancel := context.WithCancel(context.Background())
	l := newLife(replicaName(r.process.Name, r.index), number, r.run.gate, cancel)
	r.run.connect(l)
	r.run.enroll(l)
	env := r.env(l, number)

	ended := make(chan bool, 1)
	returned := make(chan struct{})
	r.run.running.Add(2)
	go func() {
		defer r.run.running.Done()
		defer close(returned)
		defer l.returned.Store(true)
		err, where := errNoReturn, ""
		defer func() {
			if p := recover(); p != nil {
				err, where = fmt.Errorf("panic: %v", p), panicked()
			}
			r.run.leave(l, err, where, ended)
		}()
		err = r.process.Run(ctx, env)
	}()
	go func() {
		defer r.run.running.Done()
		select {
		case <-l.killed:
		case <-r.run.stopping:
		case <-returned:
		}
		cancel()
		closeClients(l.tap, returned)
	}()
	return l, ended
}

func (r *replica) env(l *life, number int) Env {
	return Env{
		Kafka: []kgo.Opt{
			kgo.SeedBrokers(r.run.brokers...),
			kgo.Dialer(l.tap.Dialer(r.run.dialUnlessAway)),
			kgo.WithHooks(tap.Hook{Life: l.tap, Reader: r.process.Reader}),
			// Telemetry (KIP-714) would only add crossings that decide nothing.
			kgo.DisableClientMetrics(),
		},
		Objects:  tap.NewObjects(l.tap, r.run.objects, r.run.world.Describe),
		Database: l.tapped(),
		Call:     l.tap.Call,
		Outside:  r.run.outside,
		OnEnd:    l.ends.add,
		Inbox:    &Inbox{asks: r.run.asks, life: l.tap},
		Instance: fmt.Sprintf("%s-%d", r.process.Name, r.index),
		Replica:  r.index,
		Life:     number,
		Alert: func(what, detail string) {
			l.tap.Note(model.Event{
				Kind: model.Alert, Op: what, Note: oneLine(detail),
			})
		},
		Report: func(op string, counts []model.Count, note string) {
			l.tap.Note(model.Event{
				Kind: model.Note, Op: op, Counts: counts, Note: oneLine(note),
			})
		},
		Rand: r.rand(number),
	}
}

// rand returns the random source of one life.
func (r *replica) rand(number int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d life %d", r.process.Name, r.index, number)
	return rand.New(rand.NewPCG(r.run.gate.seed, h.Sum64()))
}

// closeClients closes what a life left open: a process that is gone has no
// clients. Its connections are severed before, so nobody hears of it. Whatever the
// unwinding program still polls must not hold its client's rebalances back, or the
// client would wait for ever.
func closeClients(l *tap.Life, returned <-chan struct{}) {
	clients := l.Clients()
	for _, c := range clients {
		closeClient(c)
	}
	<-returned
	// The program may have polled once more, and made more clients, on its way out.
	for i, c := range l.Clients() {
		if i < len(clients) {
			c.AllowRebalance()
		} else {
			closeClient(c)
		}
	}
}

func closeClient(c *kgo.Client) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.CloseAllowingRebalance()
	}()
	for {
		select {
		case <-closed:
			return
		case <-time.After(time.Second):
			c.AllowRebalance()
		}
	}
}

// enroll makes l known to the run from this instant on.
func (r *run) enroll(l *life) {
	r.mu.Lock()
	r.lives = append(r.lives, l)
	r.mu.Unlock()
	r.control(l, func() {
		r.gate.record(l.tap, model.Event{Kind: model.Start})
	})
}

// leave takes note that l's Run returned, or where it panicked. A life that the run
// killed before says nothing any more. An error and a graceful stop are followed by
// another life: the stop is what a rolling deployment does.
func (r *run) leave(l *life, err error, where string, ended chan<- bool) {
	r.control(l, func() {
		if l.over {
			return
		}
		e := model.Event{Kind: model.Exit, Outcome: model.Done, Note: where}
		if err != nil {
			e.Outcome, e.Err = model.NotDone, oneLine(err.Error())
		}
		r.gate.record(l.tap, e)
		r.end(l)
		ended <- err == nil && !l.asked
	})
	// The sockets of a process close with it: what it wrote and did not wait for
	// is on its own from here.
	l.tap.Sever()
}

// panickedFrames is how many calls of a panic's stack the history shows.
const panickedFrames = 4

// panicked returns where the panic that is being recovered came from, innermost
// call first. It leaves out what differs between runs: addresses, arguments, the
// goroutine's number, and folders.
func panicked() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var calls []string
	inside := false // of what panicked: the frames below that of the panic itself
	for more := true; more && len(calls) < panickedFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			inside = true
		case !inside || strings.HasPrefix(f.Function, "runtime."):
		case strings.HasPrefix(f.Function, supervised):
			more = false
		default:
			calls = append(calls, fmt.Sprintf("%s %s:%d",
				path.Base(f.Function), filepath.Base(f.File), f.Line))
		}
	}
	return strings.Join(calls, " < ")
}

// supervised is the function that calls Run, as a stack names it.
const supervised = "github.com/hopcheck/hopcheck/sim.(*replica).begin"

// end severs a life for good and gives back what callers still wait for.
func (r *run) end(l *life) {
	r.gate.end(l)
	r.asks.orphan(l.tap)
}

// crash kills a life at the fault's point.
func (r *run) crash(l *life, why string) {
	if l.over {
		return
	}
	r.gate.record(l.tap, model.Event{Kind: model.Crash, Note: why})
	r.end(l)
	l.kill()
}

// stop asks a life to end, and kills it when it does not within the grace period.
func (r *run) stop(l *life) {
	l.asked = true
	l.cancel()
	time.AfterFunc(grace, func() {
		r.control(l, func() {
			if !r.over {
				r.crash(l, "grace period over")
			}
		})
	})
}
