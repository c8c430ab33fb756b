//go:build synctests

package mutants

import (
	"context"
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestEnrollmentControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake.
func TestEnrollmentControl(t *testing.T) {
	poller, stream := newPollerJob().run, newStreamJob().run
	for _, c := range []struct {
		name, process string
		world         sim.World
		run           func(context.Context, sim.Env) error
	}{
		{"poller", "poller", enrollmentPoller(), poller},
		{"two pollers", "poller", enrollmentPollers(), poller},
		{"log", "publisher", enrollmentLog(), stream},
		{"fold of a poller's", "cohort", enrollmentPoller(), apply(newest).run},
		{"fold of a log's", "cohort", enrollmentLog(), apply(newest).run},
		{"fold of transactions", "cohort",
			withProcess(enrollmentPoller(), "poller", inTransaction().run), apply(newest).run},
		{"changes of a count", "cohort", enrolledOnce(enrollmentPoller()), apply(newer).run},
		{"one LSN per course", "monitor", courseLSN(commitLSN), watch(overLimit)},
		{"monitor", "monitor", enrollmentDown(), watch(overLimit)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := withProcess(c.world, c.process, c.run)
			schedules := *controlFlag
			if w.Name == "enrollment-down" {
				schedules = (schedules + 3) / 4 // a day takes its time
			}
			report, err := sim.Campaign{World: w, Seed: 1, Schedules: schedules}.Run(t)
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failure; f != nil {
				t.Error("\n" + f.Message("none"))
			}
		})
	}
}

// TestEnrollmentUndisturbed: without faults, those mutants keep the promise that they
// must break whose mistake is about what a fault leaves behind. One that broke it anyhow
// would be caught for another reason than the one that it says.
func TestEnrollmentUndisturbed(t *testing.T) {
	for _, name := range []string{
		"mark-first", "no-fold", "equal-lsn", "transaction-for-fold",
	} {
		m, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(5) {
			s := schedule.Schedule{World: m.World.Name, Mutant: name, Seed: seed}
			if got := verdict(t, m.World, s); slices.Contains(got, m.Breaks) {
				t.Errorf("%s, seed %d, without a fault: it breaks %v", name, seed, got)
			}
		}
	}
}

// TestEnrolledOnceHolds runs the saved schedules of those who count in the world that they
// are made for, with the right hops: they keep every promise there too.
func TestEnrolledOnceHolds(t *testing.T) {
	for _, name := range []string{"no-fold", "equal-lsn", "transaction-for-fold"} {
		s, err := schedule.Load("testdata/" + name + ".schedule")
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(t, enrolledOnce(enrollmentPoller()), s); len(got) > 0 {
			t.Errorf("%s: the right hops break %v", name, got)
		}
	}
}

// TestNeverConfirmAlerts: what a slot holds back that nobody confirms, the monitor calls
// about before a day is over.
func TestNeverConfirmAlerts(t *testing.T) {
	w := withProcess(enrollmentDown(), "publisher", neverConfirm().run)
	s := schedule.Schedule{World: w.Name, Seed: 1}
	r, err := sim.Run(t, w, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := sim.Verdict(r.Broken); !slices.Contains(got, drains(w)) {
		t.Errorf("it breaks %v", got)
	}
	for _, e := range r.History.Events() {
		if e.Kind == model.Alert && e.Op == hops.AlertSlotLimit {
			return
		}
	}
	t.Error("nobody was called")
}
