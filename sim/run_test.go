//go:build synctests

package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// copier is a small hop as a user would bring it: it stores each record of a topic
// under its offset, then commits.
func copier(ctx context.Context, env Env) error {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumerGroup("copier"), kgo.ConsumeTopics("in"), kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(), kgo.ServerSideBalancer(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, env.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, 10)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, r := range fetches.Records() {
			key := fmt.Sprintf("%s/%d/%020d", r.Topic, r.Partition, r.Offset)
			if _, err := env.Objects.Put(ctx, key, r.Value); err != nil {
				return err
			}
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		client.AllowRebalance()
	}
}

func copierWorld(replicas int) World {
	return World{
		Name:      "copier",
		Topics:    []Topic{{Name: "in", Partitions: 2}},
		Groups:    []string{"copier"},
		Processes: []Process{{Name: "copier", Replicas: replicas, Run: copier}},
		Input: func(rng *rand.Rand) []Input {
			var in []Input
			for i := range 40 {
				in = append(in, Input{
					At: time.Duration(i/4) * time.Second, Topic: "in",
					Key: fmt.Appendf(nil, "k%d", rng.IntN(8)), Value: fmt.Appendf(nil, "v%d", i),
				})
			}
			return in
		},
		Drained: func(v *model.View) bool {
			return v.Committed("copier", "in", 0) >= v.End("in", 0) &&
				v.Committed("copier", "in", 1) >= v.End("in", 1)
		},
		BrokerConfigs: map[string]string{
			"group.consumer.heartbeat.interval.ms": "3000",
			"group.consumer.session.timeout.ms":    "12000",
		},
	}
}

func TestTry(t *testing.T) {
	s := schedule.Schedule{World: "copier", Seed: 7}
	if os.Getenv("FAULTS") != "" {
		s.Faults = []schedule.Fault{
			schedule.MustFault("crash copier/0 life 1 after request OffsetCommit 2"),
			schedule.MustFault("pause copier/1 life 1 at call put 3 for 30s"),
			schedule.MustFault("lose copier/0 life 2 reply OffsetCommit 1"),
			schedule.MustFault("error copier/0 life 2 reply OffsetCommit 2 NOT_COORDINATOR"),
		}
	}
	start := time.Now()
	n := 1
	if os.Getenv("N") != "" {
		fmt.Sscan(os.Getenv("N"), &n)
	}
	for i := range n {
		res, err := Run(t, copierWorld(2), s)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if os.Getenv("V") != "" {
				res.History.WriteText(os.Stdout)
			}
		}
		if d := os.Getenv("DUMP"); d != "" {
			f, _ := os.Create(fmt.Sprintf("%s/%03d.txt", d, i))
			res.History.WriteText(f)
			f.Close()
		}
		if i < 5 {
			fmt.Println(res.Drained, res.Virtual, res.History.Len(), res.History.Digest(), res.Kills, res.Unfired)
		}
	}
	fmt.Println(time.Since(start) / time.Duration(n))
}
