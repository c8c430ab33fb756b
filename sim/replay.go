package sim

import (
	"fmt"
	"testing"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// replayTries bounds how often a replay runs again to meet the recorded history.
const replayTries = 5

// Replayed is what a replay found.
type Replayed struct {
	Result *Result
	// Same says that the run gave the history whose digest the schedule records; it
	// is also false where the schedule records none. Tries is how many runs it took.
	Same  bool
	Tries int
	// Broke is in how many of the tries a promise was broken.
	Broke int
}

// Replay runs a schedule again. Where the schedule records a digest and a run gives
// another history, it tries again a few times, for what the runtime itself leaves
// to chance. It returns the run that gave the recorded history; without one the
// first that broke a promise, and else the last.
func Replay(t *testing.T, w World, s schedule.Schedule) (*Replayed, error) {
	var r Replayed
	for r.Tries < replayTries {
		res, err := Run(t, w, s)
		if err != nil {
			return nil, err
		}
		r.Tries++
		r.Same = res.History.Digest() == s.Digest
		if r.Same || r.Broke == 0 {
			r.Result = res
		}
		if len(res.Broken) > 0 {
			r.Broke++
		}
		if r.Same || s.Digest == "" {
			break
		}
	}
	return &r, nil
}

// Says returns one line about how the replay went.
func (r *Replayed) Says(recorded string) string {
	switch {
	case recorded == "":
		return "the schedule records no digest to compare with; this run's is " +
			r.Result.History.Digest()
	case r.Same && r.Tries == 1:
		return "same execution, event by event (digest " + recorded + ")"
	case r.Same:
		return fmt.Sprintf("same execution, event by event, at try %d (digest %s)",
			r.Tries, recorded)
	}
	return fmt.Sprintf("another execution than the recorded one: digest %s, recorded %s (%d tries)",
		r.Result.History.Digest(), recorded, r.Tries)
}

// Verdict returns the promises that the history breaks, each once, in the world's
// order.
func Verdict(broken []props.Broken) []string {
	var names []string
	for _, b := range broken {
		if len(names) == 0 || names[len(names)-1] != b.Promise {
			names = append(names, b.Promise)
		}
	}
	return names
}
