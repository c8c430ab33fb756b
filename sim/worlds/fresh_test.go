//go:build synctests

package worlds

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

var freshFlag = flag.Int("worlds.fresh", 20,
	"how many fresh processes must run the same schedule of each world alike")

// freshSchedule names the schedule file that a fresh process of this test runs.
const freshSchedule = "HOPCHECK_FRESH_SCHEDULE"

// TestFresh runs one schedule of each world in many fresh processes: the same
// seed must give the same history, event by event. Worlds of one member allow no
// exception; with more, one run in a hundred may differ (docs/decisions/0003).
func TestFresh(t *testing.T) {
	if path := os.Getenv(freshSchedule); path != "" {
		runFresh(t, path)
		return
	}
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			s := drawn(t, e, 4)
			path := filepath.Join(t.TempDir(), "s.schedule")
			if err := s.Save(path); err != nil {
				t.Fatal(err)
			}
			digests := make(map[string]int)
			most := 0
			for range *freshFlag {
				d := digestOf(t, path)
				digests[d]++
				most = max(most, digests[d])
			}
			allowed := 0
			if e.Processes[0].Replicas > 1 {
				allowed = max(1, *freshFlag/100)
			}
			if other := *freshFlag - most; other > allowed {
				t.Errorf("%d of %d fresh processes gave another history: %v\n%s",
					other, *freshFlag, digests, s)
			}
		})
	}
}

// drawn draws a schedule of the world as a campaign would.
func drawn(t *testing.T, e Entry, seed uint64) schedule.Schedule {
	t.Helper()
	scout, err := sim.Run(t, e.World, schedule.Schedule{World: e.Name})
	if err != nil {
		t.Fatal(err)
	}
	places := e.Alphabet(scout.History)
	return schedule.Schedule{
		World: e.Name, Seed: seed,
		Faults: schedule.Draw(schedule.Seeded(seed), places, schedule.Options{}),
	}
}

func digestOf(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFresh$", "-test.v")
	cmd.Env = append(os.Environ(), freshSchedule+"="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	fixed, err := sim.StartFresh(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if !fixed {
		t.Skip("this system lets no process be traced: the runtime's own random choices vary")
	}
	_, rest, found := strings.Cut(out.String(), "digest=")
	if !found {
		t.Fatalf("the process says no digest:\n%s", &out)
	}
	return strings.Fields(rest)[0]
}

func runFresh(t *testing.T, path string) {
	s, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Named(s.World)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t, e.World, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("digest=%s", r.History.Digest())
}
