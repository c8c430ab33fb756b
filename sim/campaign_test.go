//go:build synctests

package sim

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// stored is the copier's promise: an offset below the commit has its object.
var stored = props.Property{
	Name: "stored/in", Says: "Every offset below the group's commit has its object.",
	Check: func(h *model.History) []props.Broken {
		a := model.Audit(h)
		objects := make(map[string]bool)
		for _, o := range a.Objects {
			objects[o.Key] = true
		}
		var broken []props.Broken
		for _, p := range a.Topic("in") {
			committed, _ := a.Committed("copier", "in", p.Partition)
			for _, r := range p.Records {
				key := fmt.Sprintf("in/%d/%020d", p.Partition, r.Offset)
				if r.Offset < committed && !objects[key] {
					broken = append(broken, props.Broken{
						Witness: fmt.Sprintf("offset %d of in/%d is below the commit %d and has no object",
							r.Offset, p.Partition, committed),
						Seqs: []int64{a.LogSeq("in", p.Partition)},
					})
				}
			}
		}
		return broken
	},
}

// hasty commits before it stores.
func hasty(ctx context.Context, env Env) error {
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
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		for _, r := range fetches.Records() {
			key := fmt.Sprintf("%s/%d/%020d", r.Topic, r.Partition, r.Offset)
			if _, err := env.Objects.Put(ctx, key, r.Value); err != nil {
				return err
			}
		}
		client.AllowRebalance()
	}
}

func TestCampaignTry(t *testing.T) {
	for _, hop := range []func(context.Context, Env) error{copier, hasty} {
		w := copierWorld(2)
		w.Promises = []props.Property{stored}
		w.Processes[0].Run = hop
		n, _ := strconv.Atoi(os.Getenv("N"))
		start := time.Now()
		r, err := Campaign{World: w, Seed: 3, Schedules: n}.Run(t)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(r.Schedules, r.Faults, r.Kills, r.VirtualS, time.Since(start), time.Since(start)/time.Duration(r.Schedules))
		if r.Failure != nil {
			fmt.Println(r.Failure.Message("x"))
		}
	}
}
