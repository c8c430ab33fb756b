package worlds

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/sim"
)

// accidentWithin is when an accident happens at the latest, virtual.
const accidentWithin = 8 * time.Second

// wait waits for the moment of the accident; it returns false when ctx ends first.
func waitForAccident(ctx context.Context, env sim.Env) bool {
	select {
	case <-time.After(time.Duration(env.Rand.Int64N(int64(accidentWithin)))):
		return true
	case <-ctx.Done():
		return false
	}
}

// LoseCheckpoint removes the checkpoint, or one object of it, as somebody does who
// cleans up a folder, while a tile runs.
func LoseCheckpoint(ctx context.Context, env sim.Env) error {
	if !waitForAccident(ctx, env) {
		return nil
	}
	const folder = TilePrefix + "/checkpoint/"
	var keys []string
	for after := ""; ; {
		page, err := env.Objects.List(ctx, folder, after, tileListPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		keys = append(keys, page...)
		after = page[len(page)-1]
	}
	if env.Rand.IntN(2) == 0 && len(keys) > 0 {
		i := env.Rand.IntN(len(keys))
		keys = keys[i : i+1]
	}
	for _, key := range keys {
		if err := env.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Trim removes the records at the beginning of each partition, as retention does, and
// never the last one: a tile that begins after that has something to begin with.
func Trim(ctx context.Context, env sim.Env) error {
	if !waitForAccident(ctx, env) {
		return nil
	}
	client, err := kgo.NewClient(env.Kafka...)
	if err != nil {
		return err
	}
	defer client.Close()
	for partition := range int32(partitions) {
		end, err := endOf(ctx, client, partition)
		if err != nil {
			return err
		}
		if err := trim(ctx, client, partition, env.Rand.Int64N(max(end, 1))); err != nil {
			return err
		}
	}
	return nil
}

// endOf returns the offset after the last record of a partition.
func endOf(ctx context.Context, client *kgo.Client, partition int32) (int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = Progress
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = partition, -1
	topic.Partitions = append(topic.Partitions, p)
	request.Topics = append(request.Topics, topic)
	reply, err := request.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	if len(reply.Topics) != 1 || len(reply.Topics[0].Partitions) != 1 {
		return 0, errOthers
	}
	end := reply.Topics[0].Partitions[0]
	return end.Offset, kerr.ErrorForCode(end.ErrorCode)
}

// errOthers is what is wrong with a reply that one partition was asked of.
var errOthers = errors.New("the reply is about other partitions")

// trim removes what one partition has below an offset.
func trim(ctx context.Context, client *kgo.Client, partition int32, below int64) error {
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 5000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = Progress
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, below
	topic.Partitions = append(topic.Partitions, p)
	request.Topics = append(request.Topics, topic)
	reply, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if len(reply.Topics) != 1 || len(reply.Topics[0].Partitions) != 1 {
		return errOthers
	}
	return kerr.ErrorForCode(reply.Topics[0].Partitions[0].ErrorCode)
}
