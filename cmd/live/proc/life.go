package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// ControlFD is the descriptor at which a life finds its end of the connection.
const ControlFD = 3

// Life is one life of a replica, and what it needs.
type Life struct {
	World   worlds.World
	Names   worlds.Names
	Proc    string // "landing/0"
	Number  int
	Brokers []string
	Store   tap.Store
	Faults  []schedule.Fault
	Began   time.Duration // of the run, by [Now]
	Path    string        // of the events
}

// ErrAgain is how a life ends that shall be followed by another one.
var ErrAgain = errors.New("to be started again")

// Run is the life, in this process. It returns nil when the process's work is done, and
// an error when it shall be started again. A crash does not return.
func (l Life) Run(ctx context.Context) error {
	process, replica, err := l.World.Process(l.Proc)
	if err != nil {
		return err
	}
	wire, err := NewWire(os.NewFile(ControlFD, "control"))
	if err != nil {
		return err
	}
	file, err := NewFile(FileConfig{
		Path: l.Path, Proc: l.Proc, Life: l.Number, Began: l.Began, Names: l.Names,
		Fail: func(err error) {
			fmt.Fprintln(os.Stderr, err)
			die()
		},
	})
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer cancel()
	sup := newLink(wire)
	gate := NewGate(GateConfig{
		File: file, Plan: schedule.NewPlan(l.Faults), Sup: sup, Die: die,
		Stop: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) }, // cannot fail
	})
	boundary := l.Names.Boundary(l.World)
	life := tap.NewLife(l.Proc, l.Number, gate, boundary)
	sup.life = life
	file.Record(model.Event{Kind: model.Start})
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		gate.Run(done)
	}()
	go sup.read(gate.Heal, die) // without a supervisor nobody would ever end us
	err = call(ctx, process, l.env(life, process, replica, sup))
	end := model.Event{Kind: model.Exit, Outcome: model.Done}
	if err != nil {
		end.Outcome, end.Err = model.NotDone, strings.Join(strings.Fields(err.Error()), " ")
	}
	file.End(end)
	close(done)
	<-ended
	if err == nil && ctx.Err() != nil { // a stop is what a rolling deployment does
		err = ErrAgain
	}
	return err
}

// call is Run of the process, with a panic as an error.
func call(ctx context.Context, p worlds.Process, env worlds.Env) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			fmt.Fprintf(os.Stderr, "%v\n%s", err, debug.Stack())
		}
	}()
	return p.Run(ctx, env)
}

func (l Life) env(life *tap.Life, p worlds.Process, replica int, inbox worlds.Inbox) worlds.Env {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return worlds.Env{
		Names: l.Names,
		Kafka: []kgo.Opt{
			kgo.SeedBrokers(l.Brokers...),
			kgo.Dialer(life.Dialer(dialer.DialContext)),
			kgo.WithHooks(tap.Hook{Life: life, Reader: p.Reader}),
			kgo.DisableClientMetrics(),
		},
		Objects:  tap.NewObjects(life, l.Store, l.Names.Describe(l.World)),
		Inbox:    inbox,
		Instance: fmt.Sprintf("%s-%d", p.Name, replica),
		Life:     l.Number,
		Alert: func(what, detail string) {
			life.Note(model.Event{
				Kind: model.Alert, Op: what, Note: strings.Join(strings.Fields(detail), " "),
			})
		},
		Report: func(op string, counts []model.Count, note string) {
			life.Note(model.Event{
				Kind: model.Note, Op: op, Counts: counts,
				Note: strings.Join(strings.Fields(note), " "),
			})
		},
	}
}

// die is SIGKILL to this process.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // to ourselves: it cannot fail
	select {}
}
