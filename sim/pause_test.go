//go:build synctests

package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

func TestPauseHoldsTheProcess(t *testing.T) {
	const length = 9 * time.Second // shorter than the session: nobody takes over
	res := under(t, copierWorld(1, copier), expand("pause P at call put 3 for 9s"))
	sound(t, res)
	paused := false
	var began time.Duration
	for _, e := range res.History.Events() {
		if e.Proc != "copier/0" {
			continue
		}
		switch {
		case e.Kind == model.Pause:
			paused, began = true, e.At
		case e.Kind == model.Resume:
			if !paused || e.At-began != length {
				t.Errorf("paused: %v, for %v, want %v", paused, e.At-began, length)
			}
			paused = false
		case paused:
			t.Errorf("while it stands still: %s", text(e))
		}
	}
	if paused || began == 0 {
		t.Errorf("paused at %v; still paused at the end: %v", began, paused)
	}
	reads(t, lines(t, res.History),
		[]string{"P pause", "P resume", "P call put 3", "P return put 3"})
}

// TestPauseMakesAZombie pauses a member for longer than its session. The other one
// gets its partition, and what the paused one had in hand still goes out when it
// wakes up.
func TestPauseMakesAZombie(t *testing.T) {
	w := copierWorld(2, copier)
	const zombie = "copier/0 life 1 "
	res := under(t, w, "pause "+zombie+"at call put 2 for 25s")
	sound(t, res)
	all := lines(t, res.History)
	reads(t, all, []string{
		zombie + "pause",
		"copier/1 life 1 reply ConsumerGroupHeartbeat .* \\[in/0\\] \\[in/1\\]",
		zombie + "resume",
		zombie + "call put 2 ",
		zombie + "return put 2 done",
	})
	put := ""
	for _, line := range all {
		if strings.HasPrefix(line, zombie+"call put 2 ") {
			put = "call put .*" + line[strings.Index(line, "key="):strings.Index(line, " digest=")]
		}
	}
	reads(t, all, []string{zombie + "pause", "copier/1 life 1 " + put, zombie + put})
}

// TestHealEndsFaults has a pause and a delay that would last beyond the time in
// which faults happen.
func TestHealEndsFaults(t *testing.T) {
	for _, fault := range []string{
		"pause P at call put 3 for 10m",
		"delay P return put 3 by 10m",
		"delay P request OffsetCommit 2 by 10m",
	} {
		t.Run(fault, func(t *testing.T) {
			w := copierWorld(1, copier)
			w.Safety = 20 * time.Second
			res := under(t, w, expand(fault))
			if !res.Drained || len(res.Broken) > 0 {
				t.Errorf("drained: %v, broken: %v", res.Drained, res.Broken)
			}
			var healed time.Duration
			for _, e := range res.History.Events() {
				if e.Kind == model.Heal {
					healed = e.At
				}
			}
			// A client gives up on a request, and then the world may drain earlier.
			if healed > w.Safety || healed < w.Safety && !strings.Contains(fault, "request") {
				t.Errorf("healed at %v, want %v", healed, w.Safety)
			}
			if res.Virtual > w.Safety+time.Minute {
				t.Errorf("took %v: the fault went on after faults ended", res.Virtual)
			}
			if strings.HasPrefix(fault, "pause") {
				reads(t, lines(t, res.History), []string{"P pause", "P resume", "- heal"})
			}
		})
	}
}
