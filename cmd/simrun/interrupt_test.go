//go:build unix

package main

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/sim"
)

// interrupted runs the program, sends what Ctrl-C sends, to it and its workers alike,
// while there is much to do, and returns what it printed.
func interrupted(t *testing.T, args ...string) string {
	t.Helper()
	if !sim.Simulates {
		t.Skip("this build cannot simulate")
	}
	cmd := command(t, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	dies := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer dies.Stop()
	_ = cmd.Wait() // the status says how it ended
	if status := cmd.ProcessState.ExitCode(); status != statusUndecided {
		t.Fatalf("status %d, want %d: %s", status, statusUndecided, &stderr)
	}
	return out.String()
}

func TestInterrupt(t *testing.T) {
	l := linesOf(t, interrupted(t, "run", "--world", "player", "--for", "5m", "--json"))[0]
	if !l.Cut || l.Schedules == 0 || l.Verdict != undecided {
		t.Errorf("got %+v", l)
	}
}

func TestExploreInterrupt(t *testing.T) {
	l := surveyOf(t, interrupted(t, "explore", "--world", "tile-twins", "--faults", "2", "--json"))
	if !l.Cut || l.Schedules == 0 || l.Verdict != undecided || l.Exhausted || l.TwoOf != -1 {
		t.Errorf("got %+v", l)
	}
}
