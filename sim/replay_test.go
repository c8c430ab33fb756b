//go:build synctests

package sim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

func replay(t *testing.T, w sim.World, digest string) *sim.Replayed {
	t.Helper()
	r, err := sim.Replay(t, w, schedule.Schedule{World: w.Name, Seed: 7, Digest: digest})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReplaySays(t *testing.T) {
	w := copierWorld(1, copier)
	digest := under(t, w).History.Digest()
	for _, c := range []struct {
		recorded, says string
		same           bool
		tries          int
	}{
		{digest, "same execution, event by event (digest " + digest + ")", true, 1},
		{"", "records no digest to compare with; this run's is " + digest, false, 1},
		{
			"0123456789abcdef", "another execution than the recorded one: digest " + digest +
				", recorded 0123456789abcdef (5 tries)", false, 5,
		},
	} {
		r := replay(t, w, c.recorded)
		says := r.Says(c.recorded)
		if r.Same != c.same || r.Tries != c.tries || !strings.HasSuffix(says, c.says) {
			t.Errorf("recorded %q: same %v, %d tries: %s", c.recorded, r.Same, r.Tries, says)
		}
		if r.Broke != 0 || r.Failure(w, schedule.Schedule{}) != nil {
			t.Errorf("recorded %q: broke %d", c.recorded, r.Broke)
		}
	}
	late := sim.Replayed{Result: under(t, w), Same: true, Tries: 3}
	if says := late.Says(digest); !strings.Contains(says, "at try 3") {
		t.Errorf("says %q", says)
	}
}

// TestReplayKeepsWhatBroke has a promise that only the second of five tries breaks.
func TestReplayKeepsWhatBroke(t *testing.T) {
	w := copierWorld(1, copier)
	judged := 0
	w.Promises = []props.Property{{Name: "second", Check: func(*model.History) []props.Broken {
		if judged++; judged == 2 {
			return []props.Broken{{Witness: "the second", Seqs: []int64{1}}}
		}
		return nil
	}}}
	r := replay(t, w, "0123456789abcdef")
	if r.Tries != 5 || r.Broke != 1 || r.Same {
		t.Errorf("%d tries, broke %d, same %v", r.Tries, r.Broke, r.Same)
	}
	f := r.Failure(w, schedule.Schedule{World: w.Name})
	if f == nil || f.Promise != "second" || f.Agreed != 1 || f.Replays != 5 || f.Same != 0 {
		t.Errorf("failure %+v", f)
	}
}

func TestVerdict(t *testing.T) {
	broken := []props.Broken{{Promise: "a"}, {Promise: "a"}, {Promise: "b"}}
	if diff := cmp.Diff([]string{"a", "b"}, sim.Verdict(broken)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}
