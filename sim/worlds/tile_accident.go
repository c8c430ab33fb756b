package worlds

import (
	"context"
	"fmt"
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

// Trim removes the records at the beginning of each partition, up to an offset, as
// retention does.
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
		if err := trim(ctx, client, partition, int64(env.Rand.IntN(tileEvents/2))); err != nil {
			return err
		}
	}
	return nil
}

// trim removes what one partition has below an offset, or all that it has.
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
		return fmt.Errorf("removing records of %s/%d: the reply is about other partitions",
			Progress, partition)
	}
	err = kerr.ErrorForCode(reply.Topics[0].Partitions[0].ErrorCode)
	if err == kerr.OffsetOutOfRange && below > 0 { // the log does not go so far
		return trim(ctx, client, partition, -1)
	}
	return err
}
