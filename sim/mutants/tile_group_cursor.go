package mutants

import (
	"cmp"
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "group-cursor", Case: "S21",
		Says: "the next batch begins where a consumer group stands, which is committed after " +
			"the batch, and not where the checkpoint ends",
		World:  withProcess(tileOne(), "tile", groupCursor().run),
		Breaks: props.RangesTouch(worlds.Progress, worlds.TilePrefix).Name,
	})
}

// tileGroup is the group that no tile needs.
const tileGroup = "tile"

// groupCursor has two cursors, and a kill between the two commits drives them apart.
func groupCursor() *tileJob {
	j := newTileJob()
	j.log = func(ctx context.Context, l *tileLife) (*tileLog, error) {
		return openTileLogAt(ctx, l, groupOffsets) // the mistake
	}
	j.steps = append(j.steps, func(l *tileLife, ctx context.Context) error {
		return commitRanges(ctx, l.log, l.plan.Ranges)
	})
	return j
}

// groupOffsets asks where the group stands. It says nothing of a partition that has no
// offset.
func groupOffsets(ctx context.Context, client *kgo.Client) (map[int32]int64, error) {
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = tileGroup
	reply, err := request.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(reply.ErrorCode)
	}
	at := make(map[int32]int64)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return at, nil // nobody has committed yet
	}
	if err != nil {
		return nil, err
	}
	for _, topic := range reply.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, err
			}
			at[p.Partition] = p.Offset
		}
	}
	return at, nil
}

// commitRanges commits where the ranges end, as somebody who is no member of the group.
func commitRanges(ctx context.Context, log *tileLog, ranges []hops.OffsetRange) error {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Generation = tileGroup, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = worlds.Progress, log.topicID
	for _, r := range ranges {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = r.Partition, r.End
		topic.Partitions = append(topic.Partitions, p)
	}
	request.Topics = append(request.Topics, topic)
	reply, err := request.RequestWith(ctx, log)
	if err != nil {
		return err
	}
	for _, topic := range reply.Topics {
		for _, p := range topic.Partitions {
			err = cmp.Or(err, kerr.ErrorForCode(p.ErrorCode))
		}
	}
	return err
}
