//go:build synctests

package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// failureOf is a failure with so many faults and witnesses, over a history of ten
// steps for each fault, whose object keys are long and not ASCII.
func failureOf(faults, witnesses int) *sim.Failure {
	h := new(model.History)
	s := schedule.Schedule{World: "copier", Seed: 42, Digest: "0123456789abcdef"}
	for i := range faults {
		f := schedule.MustFault(fmt.Sprintf("crash copier/0 life %d after call put 3", i+1))
		s.Faults = append(s.Faults, f)
		event := func(e model.Event) {
			e.At, e.Proc, e.Life = time.Duration(h.Len())*time.Millisecond, "copier/0", i+1
			h.Append(e)
		}
		event(model.Event{Kind: model.Start})
		for n := range 4 {
			key := "données/" + strings.Repeat("統計", 40) + fmt.Sprintf("/%d", n)
			event(model.Event{Kind: model.Call, Op: "put", Nth: n + 1, Key: key})
			event(model.Event{Kind: model.Return, Op: "put", Nth: n + 1, Outcome: model.Done})
		}
		event(model.Event{Kind: model.Crash, Note: f.String()})
	}
	f := &sim.Failure{
		Promise: "stored/in", Says: "Every offset below the group's commit has its object.",
		Schedule: s, Found: s, Nth: 7, Agreed: 5, Same: 4, Replays: 5,
		Result: &sim.Result{History: h},
	}
	for i := range witnesses {
		last := h.Append(model.Event{Kind: model.Observe, Op: "log"})
		f.Broken = append(f.Broken, props.Broken{
			Promise: f.Promise, Witness: fmt.Sprintf("offset %d has no object", i),
			Seqs: []int64{int64(3 + 4*i), last.Seq},
		})
	}
	return f
}

func TestFailureMessage(t *testing.T) {
	for name, f := range map[string]*sim.Failure{
		"one": failureOf(1, 1), "many": failureOf(20, 9), "no-fault": failureOf(0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			got := f.Message("go test -run X")
			path := filepath.Join("testdata", "failure-"+name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; write it with -update", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("message (-want +got), rewritten with -update:\n%s", diff)
			}
		})
	}
}

// TestFailureFitsAScreenful tries sizes up to absurd ones.
func TestFailureFitsAScreenful(t *testing.T) {
	for _, faults := range []int{0, 1, 3, 7, 50, 300} {
		for _, witnesses := range []int{1, 2, 3, 4, 40} {
			text := failureOf(faults, witnesses).Message("go test -run X")
			if n := strings.Count(text, "\n"); n > 45 {
				t.Errorf("%d faults and %d witnesses give %d lines", faults, witnesses, n)
			}
			for line := range strings.Lines(text) {
				if n := len([]rune(line)); n > 130 {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.ContainsRune(line, '\uFFFD') {
					t.Errorf("cut within a rune: %q", line)
				}
			}
			if !strings.Contains(text, "\n  > ") {
				t.Errorf("%d faults and %d witnesses: no witness is marked", faults, witnesses)
			}
		}
	}
}
