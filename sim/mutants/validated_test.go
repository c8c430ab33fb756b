//go:build synctests

package mutants

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

var exactlyOnce = props.ExactlyOnce(
	worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name

// TestCommitBeside shows what comes of a commit beside the transaction: the promise
// that there is none is broken by the first commit, and this is why it is made.
func TestCommitBeside(t *testing.T) {
	for _, c := range []struct{ mutant, fault, says string }{
		{"commit-sync-after", "crash validated/0 life 1 before request OffsetCommit 1",
			"has 2 committed records"},
		{"commit-sync-before", "crash validated/0 life 1 before request EndTxn 1",
			"has no committed record"},
	} {
		t.Run(c.mutant, func(t *testing.T) {
			m, err := Named(c.mutant)
			if err != nil {
				t.Fatal(err)
			}
			s, err := schedule.Parse(strings.NewReader(
				"world " + m.World.Name + "\nmutant " + m.Name + "\nseed 1\n" + c.fault + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := sim.Run(t, m.World, s)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(res.Broken, func(b props.Broken) bool {
				return b.Promise == exactlyOnce && strings.Contains(b.Witness, c.says)
			}) {
				t.Errorf("no record %s: %v", c.says, res.Broken)
			}
		})
	}
}

// TestRightLake runs the saved schedule of the lake that stores what was aborted with
// one that reads committed data only.
func TestRightLake(t *testing.T) {
	m, err := Named("lake-read-uncommitted")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Load(scheduleOf(m))
	if err != nil {
		t.Fatal(err)
	}
	if got := verdict(t, validatedLake(kgo.ReadCommitted()), s); len(got) > 0 {
		t.Errorf("the right lake breaks %v", got)
	}
}

// TestValidatedControl runs what the mutants are made of without a mistake: it keeps
// every promise, so that what breaks with a mutant is its mistake. Of the pair that
// holds back no rebalance one promise counts: a commit that is asked for again, when
// its answer is late and a partition has moved on, is for model.View one that goes
// back, and then nothing drains.
func TestValidatedControl(t *testing.T) {
	kills := validatedOne()
	kills.Verbs = killVerbs
	for _, c := range []struct {
		name   string
		world  sim.World
		target string // the one promise that counts; "" for all
	}{
		{"copier", withProcess(validatedOne(), "validated", copying{}.run), ""},
		{"copier of two", withProcess(validatedTwo(), "validated", copying{}.run), ""},
		{"copier in a hurry", withProcess(validatedOne(), "validated",
			copying{ended: endSoon}.run), ""},
		{"pair", withProcess(validatedOne(), "validated", pairing{}.run), ""},
		{"pair of two", withProcess(validatedTwo(), "validated", pairing{}.run), ""},
		{"pair that holds back no rebalance", withProcess(validatedTwo(), "validated",
			pairing{options: []kgo.Opt{kgo.WithHooks()}}.run), exactlyOnce},
		{"copier with a long timeout", withProcess(kills, "validated",
			copying{timeout: longTimeout}.run), ""},
		{"lake", validatedLake(kgo.ReadCommitted()), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := sim.Campaign{
				World: c.world, Target: c.target, Seed: 1, Schedules: *controlFlag,
			}.Run(t)
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failure; f != nil {
				t.Error("\n" + f.Message("none"))
			}
		})
	}
}
