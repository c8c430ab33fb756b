//go:build synctests

package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// transactional appends "a1 a2" in a transaction that it aborts, "b1 b2" in one
// that it commits, and "c1" in one that is open when it waits for its end.
func transactional(ctx context.Context, env sim.Env) error {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.TransactionalID("t"), kgo.DefaultProduceTopic("out"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, env.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, values := range []string{"a1 a2", "b1 b2", "c1"} {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
		for v := range strings.FieldsSeq(values) {
			r := &kgo.Record{Value: []byte(v)}
			if err := client.ProduceSync(ctx, r).FirstErr(); err != nil {
				return err
			}
		}
		if values == "c1" {
			break
		}
		if err := client.EndTransaction(ctx, values == "b1 b2"); err != nil {
			return err
		}
	}
	if _, err := env.Objects.Put(ctx, "done", []byte("yes")); err != nil {
		return err
	}
	return wait(ctx, env)
}

func valueID(r tap.Raw) (string, model.Position) { return string(r.Value), model.Position{} }

func TestAuditOfTransactions(t *testing.T) {
	w := sim.World{
		Name: "transactions", Topics: []sim.Topic{{Name: "out", Partitions: 1}},
		Processes: []sim.Process{{Name: "p", Run: transactional}},
		Identify:  valueID,
		Drained: func(v *model.View) bool {
			_, found := v.Object("done")
			return found
		},
	}
	res := under(t, w)
	sound(t, res)
	a := model.Audit(res.History)
	logs := a.Topic("out")
	if len(logs) != 1 {
		t.Fatalf("%d logs", len(logs))
	}
	var got []string
	for _, r := range logs[0].Records {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s", r.Offset, r.Kind, r.ID)))
		if r.Producer != 1 {
			t.Errorf("offset %d is of producer %d", r.Offset, r.Producer)
		}
	}
	want := []string{"0 aborted a1", "1 aborted a2", "2 abort", "3  b1", "4  b2", "5 commit", "6  c1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if p := logs[0]; p.Offset != 0 || p.End != 7 || p.Stable != 6 {
		t.Errorf("from %d to %d, stable %d; want 0, 7, 6", p.Offset, p.End, p.Stable)
	}
}

func TestAuditOfCommitsAndObjects(t *testing.T) {
	w := copierWorld(2, copier)
	w.Topics = append(w.Topics, sim.Topic{Name: "empty", Partitions: 1})
	w.Groups = append(w.Groups, "nobody")
	w.Describe = func(key string, body []byte) ([]model.Part, []model.Count) {
		p := model.PartOf("in", 0)
		p.Records = []model.Record{{Offset: 1, ID: key + " " + string(body)}}
		return []model.Part{p}, nil
	}
	res := under(t, w, "crash copier/0 life 1 after request OffsetCommit 2")
	sound(t, res)
	a := model.Audit(res.History)
	if len(a.Failed) > 0 || len(a.Logs) != 3 {
		t.Errorf("failed: %v, logs: %v", a.Failed, len(a.Logs))
	}
	records := 0
	for _, p := range a.Topic("in") {
		records += len(p.Records)
		committed, known := a.Committed("copier", "in", p.Partition)
		if !known || committed != p.End || p.End != int64(len(p.Records)) {
			t.Errorf("in/%d: %d records, end %d, committed %d (%v)",
				p.Partition, len(p.Records), p.End, committed, known)
		}
	}
	if records != 24 || len(a.Objects) != 24 {
		t.Errorf("%d records, %d objects; want 24 of each", records, len(a.Objects))
	}
	if empty := a.Topic("empty"); len(empty) != 1 || empty[0].End != 0 {
		t.Errorf("empty topic: %v", empty)
	}
	if o := a.Objects[0]; !strings.HasPrefix(o.Parts[0].Records[0].ID, o.Key+" v") || o.Bytes < 2 {
		t.Errorf("object %+v", o)
	}
	if offset, known := a.Committed("nobody", "in", 0); known && offset != -1 {
		t.Errorf("a group that nobody is in has committed %d", offset)
	}
}

// TestAuditOfATrimmedLog has a process that deletes the beginning of the log.
func TestAuditOfATrimmedLog(t *testing.T) {
	w := copierWorld(1, func(ctx context.Context, env sim.Env) error {
		if env.Life == 1 {
			time.Sleep(3 * time.Second)
			if err := trim(ctx, env, 0, 2); err != nil {
				return err
			}
		}
		return copier(ctx, env)
	})
	res := under(t, w)
	sound(t, res)
	p := model.Audit(res.History).Topic("in")[0]
	if p.Offset != 2 || len(p.Records) == 0 || p.Records[0].Offset != 2 ||
		p.End != p.Records[len(p.Records)-1].Offset+1 {
		t.Errorf("from %d to %d: %v", p.Offset, p.End, p.Records)
	}
}

// trim deletes the records of a partition of "in" below an offset.
func trim(ctx context.Context, env sim.Env, partition int32, below int64) error {
	client, err := kgo.NewClient(env.Kafka...)
	if err != nil {
		return err
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = "in"
	part := kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Partition, part.Offset = partition, below
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	_, err = req.RequestWith(ctx, client)
	return err
}
