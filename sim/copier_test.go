//go:build synctests

package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// copier is a small hop as a user would bring it: it stores each record of a topic
// under its offset, then commits.
func copier(ctx context.Context, env sim.Env) error { return copies(ctx, env, false) }

// hasty is the copier with one mistake: it commits before it stores.
func hasty(ctx context.Context, env sim.Env) error { return copies(ctx, env, true) }

func copies(ctx context.Context, env sim.Env, commitFirst bool) error {
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
		if commitFirst {
			if err := client.CommitUncommittedOffsets(ctx); err != nil {
				return err
			}
		}
		for _, r := range fetches.Records() {
			if _, err := env.Objects.Put(ctx, copyKey(r.Partition, r.Offset), r.Value); err != nil {
				return err
			}
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		client.AllowRebalance()
	}
}

func copyKey(partition int32, offset int64) string {
	return fmt.Sprintf("in/%d/%020d", partition, offset)
}

// copierWorld feeds 24 records to members that run the hop.
func copierWorld(replicas int, hop func(context.Context, sim.Env) error) sim.World {
	return sim.World{
		Name:      "copier",
		Says:      "a topic is copied to a store, record by record",
		Topics:    []sim.Topic{{Name: "in", Partitions: 2}},
		Groups:    []string{"copier"},
		Processes: []sim.Process{{Name: "copier", Replicas: replicas, Run: hop}},
		Input: func(rng *rand.Rand) []sim.Input {
			var in []sim.Input
			for i := range 24 {
				in = append(in, sim.Input{
					At: time.Duration(i/4) * time.Second, Topic: "in",
					Key: fmt.Appendf(nil, "k%d", rng.IntN(8)), Value: fmt.Appendf(nil, "v%d", i),
				})
			}
			return in
		},
		Promises: []props.Property{stored},
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

// stored is the copier's promise.
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
				if r.Offset < committed && !objects[copyKey(p.Partition, r.Offset)] {
					broken = append(broken, props.Broken{
						Witness: fmt.Sprintf("offset %d of in/%d is below the commit %d "+
							"and has no object", r.Offset, p.Partition, committed),
						Seqs: []int64{a.LogSeq("in", p.Partition)},
					})
				}
			}
		}
		return broken
	},
}

// under runs w under the faults and fails t where no run took place.
func under(t *testing.T, w sim.World, faults ...string) *sim.Result {
	t.Helper()
	s := schedule.Schedule{World: w.Name, Seed: 7}
	for _, line := range faults {
		s.Faults = append(s.Faults, schedule.MustFault(line))
	}
	res, err := sim.Run(t, w, s)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// lines returns the text of a history, a line for each event, without the numbers
// in front.
func lines(t *testing.T, h *model.History) []string {
	t.Helper()
	var b bytes.Buffer
	if err := h.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i, line := range all {
		all[i] = strings.SplitN(line, " ", 3)[2]
	}
	return all
}

// events returns the events of a kind that a process had, in order.
func events(h *model.History, proc string, kind model.Kind) []model.Event {
	var found []model.Event
	for _, e := range h.Events() {
		if e.Proc == proc && e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}
