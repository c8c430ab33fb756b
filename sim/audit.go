package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// auditTime bounds the audit, virtual.
const auditTime = 5 * time.Minute

// audit reads what is really there when all is over, and records it: every
// partition with its control records and what was aborted, the groups' offsets,
// every object, and the database.
func (r *run) audit() error {
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	ids, err := topicIDs(ctx, r.admin, r.world.Topics)
	if err != nil {
		return err
	}
	for _, t := range r.world.Topics {
		for p := range t.Partitions {
			part, err := r.readPartition(ctx, ids[t.Name], p)
			if err != nil {
				return fmt.Errorf("reading %s/%d: %w", t.Name, p, err)
			}
			r.observe(model.Event{Op: "log", Parts: []model.Part{part}})
		}
	}
	for _, g := range r.world.Groups {
		if err := r.readGroup(ctx, g, ids); err != nil {
			return fmt.Errorf("reading the offsets of group %s: %w", g, err)
		}
	}
	for _, key := range r.objects.keys("") {
		body, etag, err := r.objects.Get(ctx, key)
		if err != nil {
			return err
		}
		e := model.Event{
			Op: "object", Key: key, ETag: etag, Digest: tap.Digest(body), Bytes: int64(len(body)),
		}
		if r.world.Describe != nil {
			e.Parts, e.Counts = r.world.Describe(key, body)
		}
		r.observe(e)
	}
	r.auditDatabase()
	return nil
}

func (r *run) observe(e model.Event) {
	e.Kind = model.Observe
	r.gate.record(nil, e)
}

// topic is what the audit must know to read one.
type topic struct {
	name    string
	id      [16]byte
	leaders map[int32]int32
}

func topicIDs(
	ctx context.Context, admin *kgo.Client, topics []Topic,
) (map[string]topic, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t.Name)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("asking for metadata: %w", err)
	}
	found := make(map[string]topic)
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("asking for topic %s: %w", *t.Topic, err)
		}
		known := topic{name: *t.Topic, id: t.TopicID, leaders: make(map[int32]int32)}
		for _, p := range t.Partitions {
			known.leaders[p.Partition] = p.Leader
		}
		found[known.name] = known
	}
	return found, nil
}

// readPartition reads a whole partition, uncommitted records included.
func (r *run) readPartition(
	ctx context.Context, t topic, partition int32,
) (model.Part, error) {
	part := model.PartOf(t.name, partition)
	for at := int64(0); ; {
		rp, err := r.fetch(ctx, t, partition, at)
		if err != nil {
			return part, err
		}
		if part.Offset < 0 {
			part.Offset = rp.LogStartOffset
		}
		part.End, part.Stable = rp.HighWatermark, rp.LastStableOffset
		if rp.ErrorCode == kerr.OffsetOutOfRange.Code && at < rp.LogStartOffset {
			at = rp.LogStartOffset // retention took the beginning
			continue
		}
		if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
			return part, err
		}
		records := r.gate.names.Records(t.name, rp.RecordBatches)
		part.Records = append(part.Records, records...)
		if len(records) > 0 {
			at = records[len(records)-1].Offset + 1
		}
		if len(records) == 0 || at >= rp.HighWatermark {
			markAborted(part.Records)
			return part, nil
		}
	}
}

func (r *run) fetch(
	ctx context.Context, t topic, partition int32, at int64,
) (kmsg.FetchResponseTopicPartition, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MaxWaitMillis = 64<<20, 0
	req.SessionEpoch = -1  // no session
	req.IsolationLevel = 0 // uncommitted records too
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = t.name, t.id
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = partition, at, 64<<20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := r.admin.Broker(int(t.leaders[partition])).Request(ctx, req)
	if err != nil {
		return kmsg.FetchResponseTopicPartition{}, err
	}
	f := resp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(f.ErrorCode); err != nil {
		return kmsg.FetchResponseTopicPartition{}, err
	}
	if len(f.Topics) != 1 || len(f.Topics[0].Partitions) != 1 {
		return kmsg.FetchResponseTopicPartition{}, fmt.Errorf("the reply is about other partitions")
	}
	return f.Topics[0].Partitions[0], nil
}

// markAborted says of every data record whether its transaction was aborted: its
// producer's next marker tells. The list that a broker gives for this ends at the
// last stable offset, behind which transactions may have ended too.
func markAborted(records []model.Record) {
	next := make(map[int64]model.RecordKind) // by producer
	for i := len(records) - 1; i >= 0; i-- {
		rec := &records[i]
		switch {
		case rec.Kind == model.AbortMarker || rec.Kind == model.CommitMarker:
			next[rec.Producer] = rec.Kind
		case rec.Kind == model.Data && next[rec.Producer] == model.AbortMarker:
			rec.Kind = model.Aborted
		}
	}
}

func (r *run) readGroup(ctx context.Context, group string, ids map[string]topic) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, req.Group = group, group
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(ctx, r.admin)
	if err != nil {
		return err
	}
	byID := make(map[[16]byte]string)
	for name, t := range ids {
		byID[t.id] = name
	}
	var parts []model.Part
	for _, g := range resp.Groups {
		if g.ErrorCode == kerr.GroupIDNotFound.Code {
			continue // nobody ever joined: it has committed nothing
		}
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return err
		}
		for _, t := range g.Topics {
			name := t.Topic
			if name == "" {
				name = byID[t.TopicID]
			}
			for _, p := range t.Partitions {
				part := model.PartOf(name, p.Partition)
				part.Offset = p.Offset
				parts = append(parts, part)
			}
		}
	}
	tap.SortParts(parts)
	for _, part := range parts {
		r.observe(model.Event{Op: "commit", Group: group, Parts: []model.Part{part}})
	}
	return nil
}

// createTopics creates the topics in the order given, with one request, so that
// their ids are drawn in that order, and teaches names their ids.
func createTopics(admin *kgo.Client, names *tap.Names, topics []Topic) error {
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	req := kmsg.NewPtrCreateTopicsRequest()
	for _, t := range topics {
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = t.Name, t.Partitions, 1
		for _, key := range sortedKeys(t.Configs) {
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = key, kmsg.StringPtr(t.Configs[key])
			rt.Configs = append(rt.Configs, c)
		}
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, admin)
	if err != nil {
		return fmt.Errorf("creating topics: %w", err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("creating topic %s: %w", t.Topic, err)
		}
		names.Topic(t.TopicID, t.Topic)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
