//go:build !synctests

package sim_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestNeedsTag is about a build without the tag: it must refuse at once, since it
// would hang.
func TestNeedsTag(t *testing.T) {
	w := sim.World{Name: "w", Processes: []sim.Process{{
		Name: "p", Run: func(context.Context, sim.Env) error {
			t.Error("a process ran")
			return nil
		},
	}}}
	const child = "HOPCHECK_TEST_TAG"
	if os.Getenv(child) != "" {
		sim.Check(t, w)
		return
	}
	if _, err := sim.Run(t, w, schedule.Schedule{World: "w"}); !errors.Is(err, sim.ErrNeedsTag) {
		t.Errorf("Run: %v", err)
	}
	if _, err := sim.Replay(t, w, schedule.Schedule{World: "w"}); !errors.Is(err, sim.ErrNeedsTag) {
		t.Errorf("Replay: %v", err)
	}
	if _, err := (sim.Campaign{World: w}).Run(t); !errors.Is(err, sim.ErrNeedsTag) {
		t.Errorf("Campaign: %v", err)
	}
	const typed = "go test -tags synctests"
	if !strings.Contains(sim.ErrNeedsTag.Error(), typed) {
		t.Errorf("%q does not say what to type", sim.ErrNeedsTag)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNeedsTag$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), typed) {
		t.Errorf("Check: %v\n%s", err, out)
	}
}
