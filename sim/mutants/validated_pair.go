package mutants

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// pair is a transactional copy job as people write it with a consumer and a
// transactional producer, who is told the consumer's offsets and membership: the
// usual form in Java. At the first error it exits. In itself it is right: the
// mutants add their mistake.
//
// The writer is a session that consumes nothing, since franz-go lets only sessions
// add offsets to a transaction.
type pair struct {
	sim.Env
	reader *kgo.Client
	writer *kgo.GroupTransactSession
}

// membership is by what a broker tells a member of the group from who was one.
type membership struct {
	member     string
	generation int32
}

// pairing is what a pair does besides; the zero value is without a mistake.
type pairing struct {
	// next is the offset that is committed for a partition, after its last record.
	next func(last *kgo.Record) int64
	// as is the membership under which offsets are added to the transaction.
	as func(polled membership) membership
	// before and after, when set, are done around the end of the transaction, which
	// then holds no offsets.
	before, after func(ctx context.Context, p *pair, records []*kgo.Record) error
	// options are the reader's beyond the usual ones, which then do not hold back
	// rebalances while a poll is worked on.
	options []kgo.Opt
}

// run is one life: it copies until ctx ends.
func (o pairing) run(ctx context.Context, env sim.Env) error {
	if len(o.options) == 0 {
		o.options = []kgo.Opt{kgo.BlockRebalanceOnPoll()}
	}
	reader, err := kgo.NewClient(slices.Concat(consuming(), o.options, env.Kafka)...)
	if err != nil {
		return err
	}
	defer reader.CloseAllowingRebalance()
	writer, err := kgo.NewGroupTransactSession(slices.Concat(
		[]kgo.Opt{kgo.ConsumerGroup(worlds.ValidatedGroup)},
		writing(env.Instance, transactionTimeout), env.Kafka)...)
	if err != nil {
		return err
	}
	defer writer.Close()
	if _, _, err := writer.Client().ProducerID(ctx); err != nil { // see copying.run
		return err
	}
	p := &pair{Env: env, reader: reader, writer: writer}
	for {
		fetches := reader.PollRecords(ctx, maxPoll)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		if err := o.carry(context.WithoutCancel(ctx), p, fetches); err != nil {
			return err
		}
		reader.AllowRebalance()
	}
}

// carry carries the records of one poll over in one transaction.
func (o pairing) carry(ctx context.Context, p *pair, fetches kgo.Fetches) error {
	records := fetches.Records()
	if len(records) == 0 {
		return nil
	}
	var polled membership
	polled.member, polled.generation = p.reader.GroupMetadata()
	if err := p.writer.Begin(); err != nil {
		return err
	}
	if err := p.writer.ProduceSync(ctx, outputs(records)...).FirstErr(); err != nil {
		_, _ = p.writer.End(ctx, kgo.TryAbort)
		return err
	}
	if o.before != nil {
		if err := o.before(ctx, p, records); err != nil {
			_, _ = p.writer.End(ctx, kgo.TryAbort)
			return err
		}
	}
	end := ctx
	if o.before == nil && o.after == nil {
		end = kgo.PreTxnCommitFnContext(ctx, func(req *kmsg.TxnOffsetCommitRequest) error {
			o.add(req, polled, fetches)
			return nil
		})
	}
	committed, err := p.writer.End(end, kgo.TryCommit)
	switch {
	case err != nil:
		return err
	case !committed:
		return errAborted
	case o.after != nil:
		return o.after(ctx, p, records)
	}
	return nil
}

// add adds the offsets of what was polled to a transaction.
func (o pairing) add(
	req *kmsg.TxnOffsetCommitRequest, polled membership, fetches kgo.Fetches,
) {
	if o.as != nil {
		polled = o.as(polled)
	}
	req.MemberID, req.Generation = polled.member, polled.generation
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = worlds.Progress
	for _, batch := range batches(fetches) {
		last := batch[len(batch)-1]
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.LeaderEpoch = last.Partition, last.LeaderEpoch
		partition.Offset = last.Offset + 1
		if o.next != nil {
			partition.Offset = o.next(last)
		}
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
}

// commitBeside is a plain commit of the reader.
func commitBeside(ctx context.Context, p *pair, records []*kgo.Record) error {
	return p.reader.CommitRecords(ctx, records...)
}
