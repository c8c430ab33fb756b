package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Reader reads a run's topics, groups and objects. It is safe for concurrent use.
type Reader struct {
	client *kgo.Client
	store  tap.Store
	world  worlds.World
	names  worlds.Names
}

// NewReader returns a reader that owns neither the client nor the store, whose keys have
// the run's prefix already.
func NewReader(cl *kgo.Client, s tap.Store, w worlds.World, n worlds.Names) *Reader {
	return &Reader{client: cl, store: s, world: w, names: n}
}

// Objects returns the run's objects by their plain keys.
func (r *Reader) Objects() tap.Store { return r.store }

// askAgain is between two questions that are asked until there is an answer.
const askAgain = 200 * time.Millisecond

// Ends returns the end of each partition of a topic, whatever stands there.
func (r *Reader) Ends(ctx context.Context, topic string) (map[int32]int64, error) {
	name := r.names.Of(topic)
	req := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = name
	for _, known := range r.world.Topics {
		for p := int32(0); known.Name == topic && p < known.Partitions; p++ {
			part := kmsg.NewListOffsetsRequestTopicPartition()
			part.Partition, part.Timestamp = p, -1 // the latest
			t.Partitions = append(t.Partitions, part)
		}
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, r.client)
	if err != nil {
		return nil, fmt.Errorf("asking for the ends of %s: %w", name, err)
	}
	ends := make(map[int32]int64)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("asking for the end of %s/%d: %w", name, p.Partition, err)
			}
			ends[p.Partition] = p.Offset
		}
	}
	if len(ends) < len(t.Partitions) {
		return nil, fmt.Errorf("asking for the ends of %s: %d of %d partitions answered",
			name, len(ends), len(t.Partitions))
	}
	return ends, nil
}

// Committed returns the next offset to read of each partition for which the group has
// committed one.
func (r *Reader) Committed(
	ctx context.Context, group, topic string,
) (map[int32]int64, error) {
	all, err := r.offsets(ctx, group)
	if err != nil {
		return nil, err
	}
	done := make(map[int32]int64)
	for _, c := range all {
		if c.topic == r.names.Of(topic) {
			done[c.partition] = c.offset
		}
	}
	return done, nil
}

type committed struct {
	topic     string
	partition int32
	offset    int64
}

// offsets returns what a group has committed, by its plain name. The topic of an answer
// has a name or, in newer versions, an id.
func (r *Reader) offsets(ctx context.Context, group string) ([]committed, error) {
	name := r.names.Of(group)
	ids, err := r.topics(ctx)
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, req.Group = name, name
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(ctx, r.client)
	if err != nil {
		return nil, fmt.Errorf("asking for the offsets of %s: %w", name, err)
	}
	var all []committed
	for _, g := range resp.Groups {
		if g.ErrorCode == kerr.GroupIDNotFound.Code {
			continue // nobody ever joined: it has committed nothing
		}
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return nil, fmt.Errorf("asking for the offsets of %s: %w", name, err)
		}
		for _, t := range g.Topics {
			topic := t.Topic
			for _, known := range ids {
				if topic == "" && known.id == t.TopicID {
					topic = known.name
				}
			}
			for _, p := range t.Partitions {
				all = append(all, committed{topic, p.Partition, p.Offset})
			}
		}
	}
	return all, nil
}

// topic is what must be known of a topic to read it.
type topic struct {
	name    string
	id      [16]byte
	leaders map[int32]int32
}

// topics returns the world's topics by their names at the servers.
func (r *Reader) topics(ctx context.Context) (map[string]topic, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, t := range r.world.Topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(r.names.Of(t.Name))
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, r.client)
	if err != nil {
		return nil, fmt.Errorf("asking for the topics: %w", err)
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

func pause(ctx context.Context) bool {
	select {
	case <-time.After(askAgain):
		return true
	case <-ctx.Done():
		return false
	}
}
