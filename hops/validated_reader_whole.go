package hops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wholeTopic says what readWhole reads.
type wholeTopic struct {
	kafka     []kgo.Opt
	topic     string
	isolation Isolation
	backoff   time.Duration
}

// readWhole reads a topic from its start to its present end, partition by
// partition. It makes its own fetch requests: a consumer does not tell how far it
// is when the last records before the end are aborted, or markers.
func readWhole(ctx context.Context, w wholeTopic) ([]*kgo.Record, error) {
	client, err := kgo.NewClient(w.kafka...)
	if err != nil {
		return nil, fmt.Errorf("creating the Kafka client: %w", err)
	}
	defer client.Close()
	var metadata *kmsg.MetadataResponseTopic
	err = w.again(ctx, func() error {
		metadata, err = w.metadata(ctx, client)
		return err
	})
	if err != nil {
		return nil, err
	}
	var ends map[int32]int64
	err = w.again(ctx, func() error {
		ends, err = w.ends(ctx, client, metadata)
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []*kgo.Record
	for partition := range int32(len(metadata.Partitions)) {
		records, err := w.partition(ctx, client, partition, ends[partition])
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// again makes a call until it succeeds, fails for good, or ctx ends.
func (w *wholeTopic) again(ctx context.Context, call func() error) error {
	for {
		err := call()
		var answer *kerr.Error
		switch {
		case err == nil, errors.As(err, &answer) && !answer.Retriable:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%w, while %w", ctx.Err(), err)
		}
		sleep(ctx, w.backoff)
	}
}

func (w *wholeTopic) metadata(
	ctx context.Context, client *kgo.Client,
) (*kmsg.MetadataResponseTopic, error) {
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(w.topic)
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, topic)
	reply, err := request.RequestWith(ctx, client)
	if err == nil && len(reply.Topics) != 1 {
		err = fmt.Errorf("%d topics in the reply", len(reply.Topics))
	}
	if err == nil {
		err = kerr.ErrorForCode(reply.Topics[0].ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("looking up topic %s: %w", w.topic, err)
	}
	return &reply.Topics[0], nil
}

// ends asks for the offset after the last one to read, of each partition.
func (w *wholeTopic) ends(
	ctx context.Context, client *kgo.Client, metadata *kmsg.MetadataResponseTopic,
) (map[int32]int64, error) {
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = w.topic
	for _, p := range metadata.Partitions {
		ask := kmsg.NewListOffsetsRequestTopicPartition()
		ask.Partition, ask.Timestamp = p.Partition, -1 // the latest
		topic.Partitions = append(topic.Partitions, ask)
	}
	request := kmsg.NewPtrListOffsetsRequest()
	if w.isolation == ReadCommitted {
		request.IsolationLevel = 1
	}
	request.Topics = append(request.Topics, topic)
	reply, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("asking for the ends of %s: %w", w.topic, err)
	}
	ends := make(map[int32]int64)
	for _, topic := range reply.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("asking for the end of %s/%d: %w", w.topic, p.Partition, err)
			}
			ends[p.Partition] = p.Offset
		}
	}
	if len(ends) != len(metadata.Partitions) {
		return nil, fmt.Errorf("asking for the ends of %s: %d of %d partitions in the reply",
			w.topic, len(ends), len(metadata.Partitions))
	}
	return ends, nil
}

// partition reads one partition up to end.
func (w *wholeTopic) partition(
	ctx context.Context, client *kgo.Client, partition int32, end int64,
) ([]*kgo.Record, error) {
	var all []*kgo.Record
	for next := int64(0); next < end; {
		err := w.again(ctx, func() error {
			reply, err := w.fetch(ctx, client, partition, next)
			if err != nil {
				return err
			}
			if reply.LogStartOffset > next && reply.ErrorCode == kerr.OffsetOutOfRange.Code {
				next = reply.LogStartOffset
				return nil
			}
			fetched, after := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
				Offset: next, IsolationLevel: w.isolation.level(),
				Topic: w.topic, Partition: partition,
			}, reply, kgo.DefaultDecompressor(), nil)
			if fetched.Err != nil {
				return fmt.Errorf("reading %s/%d at %d: %w", w.topic, partition, next, fetched.Err)
			}
			for _, record := range fetched.Records {
				if record.Offset < end {
					all = append(all, record)
				}
			}
			next = max(next, after)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fetch asks the leader of a partition for what follows an offset.
func (w *wholeTopic) fetch(
	ctx context.Context, client *kgo.Client, partition int32, from int64,
) (*kmsg.FetchResponseTopicPartition, error) {
	metadata, err := w.metadata(ctx, client) // the leader may have moved
	if err != nil {
		return nil, err
	}
	leader := int32(-1)
	for _, p := range metadata.Partitions {
		if p.Partition == partition {
			leader = p.Leader
		}
	}
	ask := kmsg.NewFetchRequestTopicPartition()
	ask.Partition, ask.FetchOffset, ask.PartitionMaxBytes = partition, from, 1<<20
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = w.topic, metadata.TopicID
	topic.Partitions = append(topic.Partitions, ask)
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 500, 1, 4<<20
	if w.isolation == ReadCommitted {
		request.IsolationLevel = 1
	}
	request.Topics = append(request.Topics, topic)
	answer, err := client.Broker(int(leader)).RetriableRequest(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("fetching %s/%d at %d: %w", w.topic, partition, from, err)
	}
	reply := answer.(*kmsg.FetchResponse)
	err = kerr.ErrorForCode(reply.ErrorCode)
	if err == nil && (len(reply.Topics) != 1 || len(reply.Topics[0].Partitions) != 1) {
		err = errors.New("the reply has other partitions than asked for")
	}
	if err != nil {
		return nil, fmt.Errorf("fetching %s/%d at %d: %w", w.topic, partition, from, err)
	}
	return &reply.Topics[0].Partitions[0], nil
}
