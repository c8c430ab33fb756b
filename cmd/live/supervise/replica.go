package supervise

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/model"
)

// Times of the supervisor, as in simulation.
const (
	firstRestart = time.Second
	lastRestart  = 10 * time.Second
	// grace is what a life gets between being asked to stop and being killed.
	grace = 30 * time.Second
)

// life is a process that runs.
type life struct {
	replica string
	number  int
	cmd     *exec.Cmd
	wire    *proc.Wire
	late    atomic.Bool   // killed at the end of its grace
	gone    chan struct{} // closed when it has ended
}

// supervise starts life after life of a replica until its work is done or the run is over.
// It keeps its thread, since the processes die with it.
func (r *run) supervise(replica string) {
	wait := firstRestart
	for number := 1; ; number++ {
		l, err := r.begin(replica, number)
		if err != nil {
			r.mu.Lock()
			r.feedErr = err
			r.mu.Unlock()
			return
		}
		if l == nil {
			return
		}
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			r.hear(l)
		}()
		err = l.cmd.Wait()
		close(l.gone)
		<-heard // what it said last counts
		l.wire.Close()
		over := r.end(l, err)
		if over || err == nil {
			return
		}
		select {
		case <-r.stopping:
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, lastRestart)
	}
}

// begin starts a life; nil when the run is over.
func (r *run) begin(replica string, number int) (*life, error) {
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	wire, err := proc.NewWire(ours)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(r.Folder.log(replica, number))
	if err != nil {
		wire.Close()
		return nil, fmt.Errorf("making the log of %s life %d: %w", replica, number, err)
	}
	defer log.Close()
	cmd := exec.Command(r.Self, "process", "--run", string(r.Folder), "--proc", replica,
		"--life", strconv.Itoa(number))
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = attributes()
	l := &life{replica: replica, number: number, cmd: cmd, wire: wire, gone: make(chan struct{})}

	r.mu.Lock() // so that a kill or a heal finds it, or it finds them
	defer r.mu.Unlock()
	select {
	case <-r.stopping:
		wire.Close()
		return nil, nil
	case <-r.healing:
		cmd.Args = append(cmd.Args, "--healed")
	default:
	}
	if err := cmd.Start(); err != nil {
		wire.Close()
		return nil, fmt.Errorf("starting %s life %d: %w", replica, number, err)
	}
	r.lives[replica] = l
	r.asks.greet(l)
	return l, nil
}

// hear does what a life asks for until it has ended.
func (r *run) hear(l *life) {
	for {
		m, err := l.wire.Receive()
		if err != nil {
			return
		}
		switch m.Op {
		case proc.SaysFired:
			r.fired(l, m.Fault)
		case proc.WantsPause:
			go r.pause(l, m.For)
		case proc.WantsOutage:
			r.outage(l, m.Peer, m.For)
		case proc.WantsDB:
			l.wire.Send(proc.Message{Op: proc.SaysDone}) // no world has a database yet
		case proc.SaysAnswered:
			r.asks.answer(l, m.ID, m.Outcome)
		}
	}
}

// end takes note that a life is over and reports whether the run is.
func (r *run) end(l *life, err error) bool {
	r.mu.Lock()
	delete(r.lives, l.replica)
	r.mu.Unlock()
	r.asks.orphan(l)
	select {
	case <-r.stopping:
		return true // it was killed since nobody needs it any more
	default:
	}
	if !said(r.Folder.Events(l.replica, l.number)) {
		note := fmt.Sprintf("ended from outside: %v", err)
		if l.late.Load() {
			note = "grace period over"
		}
		r.own.Record(model.Event{
			Kind: model.Crash, Proc: l.replica, Life: l.number, Note: note,
		})
	}
	return false
}

// said reports whether a life's own events say how it ended.
func said(path string) bool {
	b, err := os.ReadFile(path)
	if err != nil {
		return false // it died before it wrote any
	}
	for line := range bytes.Lines(b) {
		var e model.Event
		if e.UnmarshalJSON(line) == nil && (e.Kind == model.Crash || e.Kind == model.Exit) {
			return true
		}
	}
	return false
}

// running returns the lives that run, by replica.
func (r *run) running() []*life {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*life
	for _, replica := range sortedKeys(r.lives) {
		all = append(all, r.lives[replica])
	}
	return all
}

// killAll ends every life. A process that was killed is not missed by its group at once.
func (r *run) killAll() {
	for _, l := range r.running() {
		send(l.cmd.Process.Pid, syscall.SIGKILL)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
