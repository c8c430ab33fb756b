//go:build synctests

package sim_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestStuck has processes that do not end although all that they could wait for
// has ended. The goroutines stay behind in their bubble, whose time has stopped.
func TestStuck(t *testing.T) {
	for _, c := range []struct {
		name  string
		run   func(ctx context.Context, env sim.Env) error
		fault string
		stuck string
	}{
		{"waits", func(context.Context, sim.Env) error { select {} }, "", "one/0 life 1"},
		{"sleeps", func(context.Context, sim.Env) error {
			for {
				time.Sleep(time.Minute)
			}
		}, "", "one/0 life 1"},
		{"only the killed life", func(ctx context.Context, env sim.Env) error {
			if env.Life == 1 {
				select {}
			}
			return wait(ctx, env)
		}, "crash one/0 life 1 after return put 1", "one/0 life 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := alone(1, c.run)
			s := schedule.Schedule{World: w.Name, Seed: 7}
			if c.fault != "" {
				s.Faults = append(s.Faults, schedule.MustFault(c.fault))
			}
			res, err := sim.Run(t, w, s)
			if !errors.Is(err, sim.ErrStuck) || res != nil {
				t.Fatalf("result %v, error %v, want %v", res, err, sim.ErrStuck)
			}
			text := err.Error()
			if !strings.HasSuffix(text, ": "+c.stuck) ||
				!strings.HasPrefix(text, "world alone, seed 7: ") {
				t.Errorf("%q does not say that %s of world alone is stuck", text, c.stuck)
			}
		})
	}
}

// TestLeftBehind has a Run that returns, but not all that it started.
func TestLeftBehind(t *testing.T) {
	w := alone(1, func(ctx context.Context, env sim.Env) error {
		go func() { select {} }()
		return wait(ctx, env)
	})
	res, err := sim.Run(t, w, schedule.Schedule{World: w.Name})
	if err == nil || errors.Is(err, sim.ErrStuck) || res != nil ||
		!strings.Contains(err.Error(), "started a goroutine that outlives its Run") {
		t.Errorf("result %v, error %v", res, err)
	}
}

// TestRunsGoOnAfterStuck makes sure that a stuck run leaves nothing that matters.
func TestRunsGoOnAfterStuck(t *testing.T) {
	before := under(t, copierWorld(2, copier))
	w := alone(1, func(context.Context, sim.Env) error { select {} })
	if _, err := sim.Run(t, w, schedule.Schedule{World: w.Name}); err == nil {
		t.Fatal("no error")
	}
	for range 3 { // docs/decisions/0003
		if before.History.Digest() == under(t, copierWorld(2, copier)).History.Digest() {
			return
		}
	}
	t.Error("the runs after it are others")
}

// TestHang has a process that waits for something outside the run: virtual time
// stops for good, and only the watchdog sees it. It ends the program, so it is
// another one.
func TestHang(t *testing.T) {
	const child = "HOPCHECK_TEST_HANG"
	if os.Getenv(child) != "" {
		outside := make(chan struct{}) // made out here, so nobody in the bubble may close it
		w := alone(1, func(context.Context, sim.Env) error {
			<-outside
			return nil
		})
		_, err := sim.Run(t, w, schedule.Schedule{World: w.Name, Seed: 7})
		t.Fatal("the run came to an end: ", err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHang$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"world alone (seed 7)", "world alone\nseed 7\n", "TestHang.func1"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the watchdog does not say %q:\n%.2000s", want, out)
		}
	}
}
