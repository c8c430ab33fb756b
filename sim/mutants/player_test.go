//go:build synctests

package mutants

import (
	"context"
	"testing"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// TestAcksZeroLoses looks at what the saved schedule shows: an event in a request
// that never arrived was answered with done and is nowhere.
func TestAcksZeroLoses(t *testing.T) {
	m, err := Named("acks-zero")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Load(scheduleOf(m))
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(t, m.World, s)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(take func(*model.Event) bool) map[string]bool {
		found := make(map[string]bool)
		for i := range res.History.Events() {
			e := &res.History.Events()[i]
			for _, part := range e.Parts {
				for _, r := range part.Records {
					found[r.ID] = found[r.ID] || take(e)
				}
			}
		}
		return found
	}
	lost := ids(func(e *model.Event) bool {
		return e.Kind == model.Request && e.Op == "Produce" && e.Outcome == model.NotDone
	})
	stored := ids(func(e *model.Event) bool { return e.Kind == model.Observe })
	done := ids(func(e *model.Event) bool {
		return e.Kind == model.Note && e.Op == "answer" && e.Outcome == model.Done
	})
	for id := range lost {
		if lost[id] && done[id] && !stored[id] {
			return
		}
	}
	t.Error("no event of the lost request was answered with done")
}

// TestPlayerControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake.
func TestPlayerControl(t *testing.T) {
	same := func(*hops.Progress) {}
	for _, c := range []struct {
		name string
		run  func(context.Context, sim.Env) error
	}{
		{"answerer", answerer{reads: worlds.OutcomeOf}.run},
		{"resender", resender{again: same}.run},
		{"spooler", spooler{again: same}.run},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(worlds.Player(), c.run)
			report, err := sim.Campaign{World: w, Seed: 1, Schedules: *controlFlag}.Run(t)
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failure; f != nil {
				t.Error("\n" + f.Message("none"))
			}
		})
	}
}
