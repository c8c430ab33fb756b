//go:build synctests

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
)

// alone is a world of one process without Kafka: each life puts "life-N" and does
// what run says. The world has drained when life last has put.
func alone(last int, run func(ctx context.Context, env sim.Env) error) sim.World {
	return sim.World{
		Name: "alone",
		Processes: []sim.Process{{Name: "one", Run: func(ctx context.Context, env sim.Env) error {
			key := fmt.Sprintf("life-%d", env.Life)
			if _, err := env.Objects.Put(ctx, key, []byte("x")); err != nil {
				return err
			}
			return run(ctx, env)
		}}},
		Drained: func(v *model.View) bool {
			_, found := v.Object(fmt.Sprintf("life-%d", last))
			return found
		},
	}
}

func wait(ctx context.Context, _ sim.Env) error {
	<-ctx.Done()
	return nil
}

// restarts returns how long each life of alone was dead before the next began.
func restarts(h *model.History) []time.Duration {
	var waits []time.Duration
	var ended time.Duration
	for _, e := range h.Events() {
		switch {
		case e.Proc != "one/0":
		case e.Kind == model.Exit || e.Kind == model.Crash:
			ended = e.At
		case e.Kind == model.Start && e.Life > 1:
			waits = append(waits, e.At-ended)
		}
	}
	return waits
}

func TestErrorIsStartedAgain(t *testing.T) {
	res := under(t, alone(7, func(ctx context.Context, env sim.Env) error {
		if env.Life < 7 {
			return errors.New("not yet")
		}
		return wait(ctx, env)
	}))
	sound(t, res)
	want := []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second,
		10 * time.Second,
	}
	if diff := cmp.Diff(want, restarts(res.History)); diff != "" {
		t.Errorf("waits before restarts (-want +got):\n%s", diff)
	}
}

func TestKilledIsStartedAgain(t *testing.T) {
	res := under(t, alone(2, wait), "crash one/0 life 1 after return put 1")
	sound(t, res)
	if diff := cmp.Diff([]time.Duration{time.Second}, restarts(res.History)); diff != "" {
		t.Errorf("waits before restarts (-want +got):\n%s", diff)
	}
}

func TestDoneIsNotStartedAgain(t *testing.T) {
	w := alone(1, func(context.Context, sim.Env) error { return nil })
	w.Drained = func(*model.View) bool { return false }
	w.Safety, w.Liveness = time.Minute, time.Minute
	res := under(t, w)
	starts := events(res.History, "one/0", model.Start)
	exits := events(res.History, "one/0", model.Exit)
	if len(starts) != 1 || len(exits) != 1 || exits[0].Outcome != model.Done {
		t.Errorf("starts: %v, exits: %v", starts, exits)
	}
}

// TestStopIsFollowedByALife has a life that ends well because it was asked to.
func TestStopIsFollowedByALife(t *testing.T) {
	res := under(t, alone(2, wait), "stop one/0 life 1 at return put 1")
	sound(t, res)
	exits := events(res.History, "one/0", model.Exit)
	if len(exits) != 1 || exits[0].Outcome != model.Done {
		t.Errorf("exits: %v", exits)
	}
	if n := len(events(res.History, "one/0", model.Start)); n != 2 {
		t.Errorf("%d lives", n)
	}
}

func TestIgnoredStopIsKilled(t *testing.T) {
	res := under(t, alone(2, func(ctx context.Context, env sim.Env) error {
		if env.Life == 1 {
			time.Sleep(5 * time.Minute) // whatever ctx says
		}
		return wait(ctx, env)
	}), "stop one/0 life 1 at return put 1")
	sound(t, res)
	stops := events(res.History, "one/0", model.Stop)
	crashes := events(res.History, "one/0", model.Crash)
	if len(stops) != 1 || len(crashes) != 1 {
		t.Fatalf("stops: %v, crashes: %v", stops, crashes)
	}
	if after := crashes[0].At - stops[0].At; after != 30*time.Second {
		t.Errorf("killed %v after it was asked to stop", after)
	}
	if crashes[0].Note != "grace period over" || len(res.Kills) != 0 {
		t.Errorf("note %q, kills of the schedule %v", crashes[0].Note, res.Kills)
	}
}

func TestPanicIsADeath(t *testing.T) {
	res := under(t, alone(3, func(ctx context.Context, env sim.Env) error {
		switch env.Life {
		case 1:
			return index(nil, 3)
		case 2:
			defer func() { panic("two\nlines") }() // while the first one unwinds
			panic("first")
		}
		return wait(ctx, env)
	}))
	sound(t, res)
	exits := events(res.History, "one/0", model.Exit)
	if len(exits) != 2 {
		t.Fatalf("exits: %v", exits)
	}
	if e := exits[0]; e.Outcome != model.NotDone ||
		e.Err != "panic: runtime error: index out of range [3] with length 0" {
		t.Errorf("exit %v, %q", e.Outcome, e.Err)
	}
	if e := exits[1]; e.Err != "panic: two lines" && !strings.Contains(e.Err, "two lines") {
		t.Errorf("exit %q", e.Err)
	}
	frames := regexp.MustCompile(`^sim_test\.index supervisor_test\.go:\d+ < ` +
		`sim_test\.TestPanicIsADeath\.func1 supervisor_test\.go:\d+ < ` +
		`sim_test\.TestPanicIsADeath\.alone\.func\d+ supervisor_test\.go:\d+$`)
	if !frames.MatchString(exits[0].Note) {
		t.Errorf("stack: %q", exits[0].Note)
	}
	if !strings.HasPrefix(exits[1].Note, "sim_test.TestPanicIsADeath") {
		t.Errorf("stack: %q", exits[1].Note)
	}
}

//go:noinline
func index(list []error, i int) error { return list[i] }

func TestGoexitIsAnError(t *testing.T) {
	res := under(t, alone(2, func(ctx context.Context, env sim.Env) error {
		if env.Life == 1 {
			runtime.Goexit()
		}
		return wait(ctx, env)
	}))
	sound(t, res)
	exits := events(res.History, "one/0", model.Exit)
	if len(exits) != 1 || !strings.Contains(exits[0].Err, "without returning") {
		t.Errorf("exits: %v", exits)
	}
}
