package check_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// spun is what SPIN says of a model.
type spun struct {
	states, transitions, errors, bytes int64
	seconds                            float64 // of the processor
}

// spin searches a model of the folder spin. Without the programs it skips the
// test; with the variable HOPCHECK_SPIN set it fails instead.
func spin(t testing.TB, model string, defines ...string) spun {
	t.Helper()
	for _, program := range []string{"bash", "spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("HOPCHECK_SPIN") != "" {
				t.Fatal(err)
			}
			t.Skipf("no %s: install Debian's packages spin and gcc to compare with SPIN", program)
		}
	}
	script := []string{filepath.Join("spin", "run.sh"), filepath.Join("spin", model)}
	run := exec.Command("bash", append(script, defines...)...)
	var report bytes.Buffer
	run.Stderr = &report
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", run, err, &report)
	}
	var s spun
	if _, err := fmt.Sscanf(strings.TrimSpace(string(out)),
		"states %d transitions %d errors %d seconds %g bytes %d",
		&s.states, &s.transitions, &s.errors, &s.seconds, &s.bytes); err != nil {
		t.Fatalf("%s printed %q: %v\n%s", run, out, err, &report)
	}
	return s
}

// TestSpinFindsTheSame compares with a model checker that is not ours. SPIN
// counts the way to the initial state as a transition, this engine does not.
func TestSpinFindsTheSame(t *testing.T) {
	for _, managers := range []int{2, 7} {
		want := spin(t, "twophase.pml", fmt.Sprintf("-DN=%d", managers))
		got := check.Check(specs.TwoPhase(managers), check.Options{Engine: check.Exact})
		if want.errors != 0 || got.Verdict != check.Held ||
			got.States != want.states || got.Transitions != want.transitions-1 {
			t.Errorf("%d managers: %s, %d states and %d transitions; SPIN has %+v",
				managers, got.Verdict, got.States, got.Transitions, want)
		}
	}
}

// BenchmarkSpin measures SPIN, and the engines on the same protocol, in turn:
// "x-SPIN" is how many times its states each second of the processor.
func BenchmarkSpin(b *testing.B) {
	for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
		b.Run(engine.String(), func(b *testing.B) {
			var ours, theirs float64
			var states int64
			for b.Loop() {
				s := spin(b, "twophase.pml", "-DN=9")
				theirs += s.seconds
				start := processor(b)
				states += check.Check(specs.TwoPhase(9), check.Options{Engine: engine}).States
				ours += processor(b) - start
				b.ReportMetric(float64(s.bytes)/float64(s.states), "SPIN-B/state")
			}
			b.ReportMetric(float64(states)/ours/1e6, "Mstates/cpu-s")
			b.ReportMetric(float64(states)/theirs/1e6, "SPIN-Mstates/cpu-s")
			b.ReportMetric(theirs/ours, "x-SPIN")
		})
	}
}
