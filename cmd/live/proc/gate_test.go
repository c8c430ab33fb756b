package proc_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// bench is a life whose calls cross a gate.
type bench struct {
	t       *testing.T
	life    *tap.Life
	gate    *proc.Gate
	path    string
	applied atomic.Int32
	asked   []string // of the supervisor
	fired   chan struct{}
	dead    chan struct{}
}

func (b *bench) Fired(schedule.Fault) {
	b.asked = append(b.asked, "fired")
	b.fired <- struct{}{}
}

func (b *bench) Pause(time.Duration)              { b.asked = append(b.asked, "pause") }
func (b *bench) Outage(p string, _ time.Duration) { b.asked = append(b.asked, "outage"+p) }
func (b *bench) Database(string)                  { b.asked = append(b.asked, "database") }

// newBench returns a life of p/0 with faults. It dies by closing dead.
func newBench(t *testing.T, faults ...string) *bench {
	b := &bench{
		t: t, path: filepath.Join(t.TempDir(), "life.jsonl"), dead: make(chan struct{}),
		fired: make(chan struct{}, 8),
	}
	names := worlds.Names{ID: "abc123"}
	file, err := proc.NewFile(proc.FileConfig{
		Path: b.path, Proc: "p/0", Life: 1, Began: proc.Now(), Names: names,
		Fail: func(err error) { panic(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var plan []schedule.Fault
	for _, f := range faults {
		plan = append(plan, schedule.MustFault(f))
	}
	b.gate = proc.NewGate(proc.GateConfig{
		File: file, Plan: schedule.NewPlan(plan), Sup: b,
		Stop: func() { b.asked = append(b.asked, "stop") },
		Die: func() {
			close(b.dead)
			select {}
		},
	})
	b.life = tap.NewLife("p/0", 1, b.gate, tap.NewNames(nil))
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go b.gate.Run(done)
	return b
}

// put is a call that is applied at once.
func (b *bench) put(key string) error {
	return b.life.Call(context.Background(), tap.Call{
		Event: model.Event{Op: "put", Key: key},
		Apply: func(context.Context, *model.Event) error {
			b.applied.Add(1)
			return nil
		},
	})
}

// events are what the life's file says, each as kind, op and outcome.
func (b *bench) events() []string {
	b.t.Helper()
	body, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		var e model.Event
		if err := e.UnmarshalJSON(lines.Bytes()); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, string(e.Kind)+" "+e.Op+" "+string(e.Outcome))
	}
	return all
}

func (b *bench) want(events ...string) {
	b.t.Helper()
	if got := b.events(); !slices.Equal(got, events) {
		b.t.Errorf("events %q, want %q", got, events)
	}
}

func TestPass(t *testing.T) {
	b := newBench(t)
	if err := b.put("k"); err != nil {
		t.Fatal(err)
	}
	b.want("call put ", "return put done")
}

// TestDeath has a life die at each place around one call, and wants of the call what has
// happened, and of the file what somebody else can read of it.
func TestDeath(t *testing.T) {
	for at, want := range map[string]struct {
		applied int32
		events  []string
	}{
		"before call put 1":   {0, []string{"crash  "}},
		"after call put 1":    {1, []string{"call put ", "crash  ", "return put unknown"}},
		"before return put 1": {1, []string{"call put ", "crash  ", "return put unknown"}},
		"after return put 1":  {1, []string{"call put ", "return put done", "crash  "}},
	} {
		t.Run(at, func(t *testing.T) {
			b := newBench(t, "crash p/0 life 1 "+at)
			go func() {
				if b.put("k") == nil {
					_ = b.put("next") // what it does with the answer never happens
				}
			}()
			<-b.dead
			b.want(want.events...)
			if got := b.applied.Load(); got != want.applied {
				t.Errorf("applied %d times, want %d", got, want.applied)
			}
		})
	}
}

// TestLost has an answer lost, and a call that never arrives.
func TestLost(t *testing.T) {
	b := newBench(t, "lose p/0 life 1 return put 1", "lose p/0 life 1 call put 2")
	for range 2 {
		if err := b.put("k"); !errors.Is(err, tap.ErrLost) {
			t.Errorf("got %v", err)
		}
	}
	b.want("call put ", "fault  ", "return put unknown", "fault  ", "call put not-done")
	if got := b.applied.Load(); got != 1 {
		t.Errorf("applied %d times", got)
	}
}

// TestDelay has one call late, and others go on meanwhile; faults that end let it go.
func TestDelay(t *testing.T) {
	b := newBench(t, "delay p/0 life 1 call put 1 by 10m")
	late := make(chan error, 1)
	go func() { late <- b.put("late") }()
	<-b.fired
	if err := b.put("other"); err != nil {
		t.Fatal(err)
	}
	b.want("fault  ", "call put ", "return put done")
	b.gate.Heal()
	if err := <-late; err != nil {
		t.Fatal(err)
	}
}

// TestOutside has the supervisor do what a process cannot do to itself, before the event
// passes, and the stop after it.
func TestOutside(t *testing.T) {
	b := newBench(t, "pause p/0 life 1 at call put 1 for 5s",
		"outage p/0 life 1 at call put 1 for 2s", "stop p/0 life 1 at call put 1")
	if err := b.put("k"); err != nil {
		t.Fatal(err)
	}
	b.want("pause  ", "resume  ", "fault  ", "stop  ", "call put ", "return put done")
	want := []string{"fired", "pause", "fired", "outage", "fired", "stop"}
	if !slices.Equal(b.asked, want) {
		t.Errorf("asked for %q, want %q", b.asked, want)
	}
}

// TestOverIsOver has nothing written once a life has said how it ended.
func TestOverIsOver(t *testing.T) {
	b := newBench(t, "crash p/0 life 1 before call put 1")
	go func() { _ = b.put("k") }()
	<-b.dead
	b.gate.Note(b.life, model.Event{Kind: model.Note, Op: "ack"})
	b.want("crash  ")
}
