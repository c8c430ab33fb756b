package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

// shout is the program under test: it answers each record of "words" with one in
// "shouts", and commits once the answers are there. It is what you deploy; only its
// client options end in those of the world.
func shout(ctx context.Context, env sim.Env) error {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumerGroup("shouter"), kgo.ConsumeTopics("words"), kgo.DisableAutoCommit(),
		kgo.ServerSideBalancer(), // KIP-848; kfake's classic groups can wait for ever
		kgo.BlockRebalanceOnPoll(), kgo.DefaultProduceTopic("shouts"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, env.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		var answers []*kgo.Record
		for _, r := range fetches.Records() {
			answers = append(answers, &kgo.Record{Key: r.Key, Value: append(r.Value, '!')})
		}
		if err := client.ProduceSync(ctx, answers...).FirstErr(); err != nil {
			return err
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		client.AllowRebalance()
	}
}

// shoutWorld is what flows into shout, and what must hold.
var shoutWorld = sim.World{
	Name:      "shout",
	Topics:    []sim.Topic{{Name: "words", Partitions: 2}, {Name: "shouts", Partitions: 1}},
	Groups:    []string{"shouter"},
	Processes: []sim.Process{{Name: "shout", Replicas: 2, Run: shout}},
	Input: func(rng *rand.Rand) []sim.Input {
		var in []sim.Input
		for i := range 20 {
			in = append(in, sim.Input{
				At: time.Duration(i) * time.Second, Topic: "words",
				Key: fmt.Appendf(nil, "key-%d", rng.IntN(5)), Value: fmt.Appendf(nil, "word %d", i),
			})
		}
		return in
	},
	Promises: []props.Property{
		props.CommitMonotonic("shouter"),
		props.Drains("words", "shouter"),
	},
	Drained: func(v *model.View) bool {
		return v.Committed("shouter", "words", 0) >= v.End("words", 0) &&
			v.Committed("shouter", "words", 1) >= v.End("words", 1)
	},
}

// A test of your own program is a world and one call. Run it with
//
//	go test -tags synctests
//
// and it tries a hundred ways in which things go wrong. One that breaks a promise
// is made small, printed with the command that replays it, and saved.
func ExampleCheck() {
	// func TestShout(t *testing.T) {
	_ = func(t *testing.T) {
		sim.Check(t, shoutWorld)
	}
}

// Where chance is not enough, try everything: every single crash of shout, and with 2
// every pair of them.
func ExampleExplore() {
	// func TestShoutCrashes(t *testing.T) {
	_ = func(t *testing.T) {
		w := shoutWorld
		w.Verbs = []string{"crash"}
		sim.Explore(t, w, 1)
	}
}
