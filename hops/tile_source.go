package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// logBounds says which offsets of a partition can be read: from Start up to, but
// without, End.
type logBounds struct {
	partition  int32
	start, end int64
}

// tileSource is a topic by offsets. Each call may be made again.
type tileSource interface {
	// bounds returns the bounds of every partition, in order.
	bounds(ctx context.Context) ([]logBounds, error)
	// read returns the records of one partition from offset on and the offset
	// that comes after them, which is offset itself when there is nothing to read
	// yet. Offsets without a record are passed over. The error is an
	// errTrimmed when the log no longer has offset.
	read(ctx context.Context, partition int32, offset int64) ([]*kgo.Record, int64, error)
	close()
}

// errTrimmed says where a log begins that no longer has the offset asked for.
type errTrimmed struct{ start int64 }

func (e errTrimmed) Error() string { return fmt.Sprintf("the log begins at offset %d", e.start) }

// How much one fetch asks for.
const (
	fetchWaitMs   = 500
	fetchMaxBytes = 16 << 20
)

// kafkaSource fetches by hand. A consumer reads ahead and says nothing about
// offsets without records, and a batch must know when its range is at an end.
type kafkaSource struct {
	client  *kgo.Client
	topic   string
	topicID [16]byte
	leaders map[int32]int32
}

func (t *Tile) openKafka() (*kafkaSource, error) {
	client, err := kgo.NewClient(t.cfg.Kafka...)
	if err != nil {
		return nil, fmt.Errorf("tile: creating the Kafka client: %w", err)
	}
	return &kafkaSource{client: client, topic: t.cfg.Topic}, nil
}

func (s *kafkaSource) close() { s.client.Close() }

// look asks for the topic's partitions and their leaders.
func (s *kafkaSource) look(ctx context.Context) error {
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(s.topic)
	request.Topics = append(request.Topics, asked)
	reply, err := request.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("asking for the metadata of %s: %w", s.topic, err)
	}
	if len(reply.Topics) != 1 {
		return fmt.Errorf("asking for the metadata of %s: %d topics in the reply",
			s.topic, len(reply.Topics))
	}
	topic := reply.Topics[0]
	if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
		return fmt.Errorf("asking for the metadata of %s: %w", s.topic, err)
	}
	s.topicID, s.leaders = topic.TopicID, make(map[int32]int32)
	for _, p := range topic.Partitions {
		s.leaders[p.Partition] = p.Leader
	}
	return nil
}

func (s *kafkaSource) bounds(ctx context.Context) ([]logBounds, error) {
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	starts, err := s.listOffsets(ctx, -2)
	if err != nil {
		return nil, err
	}
	ends, err := s.listOffsets(ctx, -1)
	if err != nil {
		return nil, err
	}
	bounds := make([]logBounds, 0, len(ends))
	for partition, end := range ends {
		start, ok := starts[partition]
		if !ok {
			return nil, fmt.Errorf("listing offsets: no start of %s/%d", s.topic, partition)
		}
		bounds = append(bounds, logBounds{partition, start, end})
	}
	slices.SortFunc(bounds, func(a, b logBounds) int { return int(a.partition) - int(b.partition) })
	return bounds, nil
}

// listOffsets asks for the start (-2) or the stable end (-1) of each partition.
func (s *kafkaSource) listOffsets(ctx context.Context, at int64) (map[int32]int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.IsolationLevel = -1, 1
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = s.topic
	for partition := range s.leaders {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, at
		asked.Partitions = append(asked.Partitions, p)
	}
	slices.SortFunc(asked.Partitions, func(a, b kmsg.ListOffsetsRequestTopicPartition) int {
		return int(a.Partition) - int(b.Partition)
	})
	request.Topics = append(request.Topics, asked)
	reply, err := request.RequestWith(ctx, s.client)
	if err != nil {
		return nil, fmt.Errorf("listing offsets of %s: %w", s.topic, err)
	}
	offsets := make(map[int32]int64)
	for _, topic := range reply.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("listing offsets of %s/%d: %w", s.topic, p.Partition, err)
			}
			offsets[p.Partition] = p.Offset
		}
	}
	if len(offsets) != len(s.leaders) {
		return nil, fmt.Errorf("listing offsets of %s: %d of %d partitions in the reply",
			s.topic, len(offsets), len(s.leaders))
	}
	return offsets, nil
}

func (s *kafkaSource) read(
	ctx context.Context, partition int32, offset int64,
) ([]*kgo.Record, int64, error) {
	if s.leaders == nil {
		if err := s.look(ctx); err != nil {
			return nil, offset, err
		}
	}
	records, next, err := s.fetch(ctx, partition, offset)
	if err == nil {
		return records, next, nil
	}
	s.leaders = nil // whatever it was, ask again who leads
	if !errors.Is(err, kerr.OffsetOutOfRange) {
		return nil, offset, fmt.Errorf("fetching %s/%d at offset %d: %w",
			s.topic, partition, offset, err)
	}
	bounds, boundsErr := s.bounds(ctx)
	if boundsErr != nil {
		return nil, offset, boundsErr
	}
	for _, b := range bounds {
		if b.partition == partition && b.start > offset {
			return nil, offset, errTrimmed{b.start}
		}
	}
	// A leader that has not heard of the end yet.
	return nil, offset, fmt.Errorf("fetching %s/%d at offset %d: %w",
		s.topic, partition, offset, err)
}

func (s *kafkaSource) fetch(
	ctx context.Context, partition int32, offset int64,
) ([]*kgo.Record, int64, error) {
	leader, ok := s.leaders[partition]
	if !ok || leader < 0 {
		return nil, offset, kerr.LeaderNotAvailable
	}
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = fetchWaitMs, 1, fetchMaxBytes
	request.IsolationLevel = 1
	request.SessionEpoch = -1 // no session: one partition at a time
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic, asked.TopicID = s.topic, s.topicID
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, fetchMaxBytes
	asked.Partitions = append(asked.Partitions, p)
	request.Topics = append(request.Topics, asked)
	answer, err := s.client.Broker(int(leader)).Request(ctx, request)
	if err != nil {
		return nil, offset, err
	}
	reply, ok := answer.(*kmsg.FetchResponse)
	if !ok {
		return nil, offset, fmt.Errorf("the reply is a %T", answer)
	}
	if err := kerr.ErrorForCode(reply.ErrorCode); err != nil {
		return nil, offset, err
	}
	if len(reply.Topics) != 1 || len(reply.Topics[0].Partitions) != 1 {
		return nil, offset, errors.New("the reply does not name one partition")
	}
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: offset, IsolationLevel: kgo.ReadCommitted(), Topic: s.topic, Partition: partition,
	}, &reply.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	return fetched.Records, next, fetched.Err
}
