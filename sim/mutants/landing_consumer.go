package mutants

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// maxPoll bounds one poll of a consumer, in records.
const maxPoll = 100

// consumer is a landing job as people write their first one: poll, work, commit,
// and at the first error exit, so that the supervisor starts it again at the
// group's offset. In itself it is right: each landing mutant adds its mistake.
type consumer struct {
	sim.Env
	*kgo.Client
	// open is work that goes on beside the loop; it is waited for before the client
	// closes.
	open sync.WaitGroup
}

// work is done on what one poll brought of one partition, in order of offsets and
// never empty. An error ends the life.
type work func(ctx context.Context, c *consumer, batch []*kgo.Record) error

// land is the work of a consumer without a mistake.
func land(ctx context.Context, c *consumer, batch []*kgo.Record) error {
	if err := c.landAll(ctx, batch); err != nil {
		return err
	}
	return c.commit(ctx, batch)
}

// loop is the program around the work.
type loop struct {
	do work
	// tick, when set, is called after every poll, which then takes tickEvery at most.
	tick func(ctx context.Context, c *consumer) error
	// end, when set, is called when the program is asked to end, with a context that
	// gives it time to finish.
	end func(ctx context.Context, c *consumer) error
	// options are the client's beyond the usual ones. Without any, the program
	// commits by itself; with some, they say how commits are made.
	options []kgo.Opt
	// group are the options of the group; none is server-side assignment.
	group []kgo.Opt
}

// Times of a loop, virtual.
const (
	tickEvery = 500 * time.Millisecond // between two ticks
	finishing = 20 * time.Second       // for the end, less than the supervisor's grace
)

// consume is one life of a consumer without ticks.
func consume(ctx context.Context, env sim.Env, do work, options ...kgo.Opt) error {
	return loop{do: do, options: options}.run(ctx, env)
}

// run is one life: it polls until ctx ends.
func (l loop) run(ctx context.Context, env sim.Env) error {
	if len(l.options) == 0 {
		l.options = []kgo.Opt{kgo.DisableAutoCommit()}
	}
	if len(l.group) == 0 {
		l.group = []kgo.Opt{kgo.ServerSideBalancer()}
	}
	client, err := kgo.NewClient(slices.Concat([]kgo.Opt{
		kgo.ConsumerGroup(worlds.LandingGroup), kgo.ConsumeTopics(worlds.Progress),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.BlockRebalanceOnPoll(),
	}, l.options, l.group, env.Kafka)...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	c := &consumer{Env: env, Client: client}
	defer c.open.Wait()
	for {
		fetches := l.poll(ctx, client)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return l.finish(ctx, c)
		}
		if err := l.turn(ctx, c, fetches); err != nil {
			if ctx.Err() != nil {
				return l.finish(ctx, c)
			}
			return err
		}
		client.AllowRebalance()
	}
}

// finish ends a life that was asked to: what is not committed is done again.
func (l loop) finish(ctx context.Context, c *consumer) error {
	if l.end == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishing)
	defer cancel()
	return l.end(ctx, c)
}

// poll waits for records or, if there are ticks, for the next one.
func (l loop) poll(ctx context.Context, client *kgo.Client) kgo.Fetches {
	if l.tick != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, tickEvery)
		defer cancel()
	}
	return client.PollRecords(ctx, maxPoll)
}

// turn does what is due after a poll.
func (l loop) turn(ctx context.Context, c *consumer, fetches kgo.Fetches) error {
	if len(fetches) == 0 {
		return nil // no rebalance is held back, so what is in hand may be another's
	}
	if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, batch := range batches(fetches) {
		if err := l.do(ctx, c, batch); err != nil {
			return err
		}
	}
	if l.tick == nil {
		return nil
	}
	return l.tick(ctx, c)
}

// batches returns the records by partition.
func batches(fetches kgo.Fetches) [][]*kgo.Record {
	var all [][]*kgo.Record
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) > 0 {
			all = append(all, p.Records)
		}
	})
	slices.SortStableFunc(all, func(a, b []*kgo.Record) int {
		return cmp.Compare(a[0].Partition, b[0].Partition)
	})
	return all
}

// land puts a good record under its own name and dead-letters a reject.
func (c *consumer) land(ctx context.Context, r *kgo.Record) error {
	line := lineOf(r)
	if line.Reject != "" {
		return c.bury(ctx, r)
	}
	key := hops.ObjectKey(r.Topic, r.Partition, r.Offset)
	_, err := c.Objects.Put(ctx, key, hops.AppendBody(nil, line))
	return err
}

// landAll lands a batch in order.
func (c *consumer) landAll(ctx context.Context, batch []*kgo.Record) error {
	for _, r := range batch {
		if err := c.land(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// insist lands a record however often it takes, until ctx ends.
func (c *consumer) insist(ctx context.Context, r *kgo.Record) error {
	for {
		err := c.land(ctx, r)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// bury dead-letters those of the records that are rejects, and waits for the acks.
func (c *consumer) bury(ctx context.Context, records ...*kgo.Record) error {
	var letters []*kgo.Record
	for _, r := range records {
		if reason := lineOf(r).Reject; reason != "" {
			letters = append(letters, deadLetter(r, reason))
		}
	}
	if len(letters) == 0 {
		return nil
	}
	return c.ProduceSync(ctx, letters...).FirstErr()
}

func deadLetter(r *kgo.Record, reason string) *kgo.Record {
	return &kgo.Record{
		Topic: worlds.ProgressDLQ, Key: r.Key, Value: r.Value,
		Headers: append(slices.Clone(r.Headers),
			kgo.RecordHeader{Key: hops.HeaderTopic, Value: []byte(r.Topic)},
			kgo.RecordHeader{
				Key:   hops.HeaderPartition,
				Value: strconv.AppendInt(nil, int64(r.Partition), 10),
			},
			kgo.RecordHeader{Key: hops.HeaderOffset, Value: strconv.AppendInt(nil, r.Offset, 10)},
			kgo.RecordHeader{Key: hops.HeaderReason, Value: []byte(reason)},
		),
	}
}

// lineOf returns how an object shows a record.
func lineOf(r *kgo.Record) hops.Line {
	var reject *hops.Reject
	if errors.As(hops.Classify(r.Key, r.Value), &reject) {
		return hops.Line{Offset: r.Offset, Reject: reject.Reason}
	}
	return hops.Line{
		Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value,
	}
}

// linesOf returns how an object shows records of one partition that follow each
// other.
func linesOf(batch []*kgo.Record) []hops.Line {
	lines := make([]hops.Line, len(batch))
	for i, r := range batch {
		lines[i] = lineOf(r)
	}
	return lines
}

// commit tells the group that a batch is done.
func (c *consumer) commit(ctx context.Context, batch []*kgo.Record) error {
	last := batch[len(batch)-1]
	return c.commitAt(ctx, last, last.Offset+1)
}

// commitAt commits offset for the partition of r.
func (c *consumer) commitAt(ctx context.Context, r *kgo.Record, offset int64) error {
	at := kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: offset}
	offsets := map[string]map[int32]kgo.EpochOffset{r.Topic: {r.Partition: at}}
	var failure error
	c.CommitOffsetsSync(ctx, offsets, func(
		_ *kgo.Client, _ *kmsg.OffsetCommitRequest, reply *kmsg.OffsetCommitResponse, err error,
	) {
		if failure = err; err != nil {
			return
		}
		for _, topic := range reply.Topics {
			for _, p := range topic.Partitions {
				failure = cmp.Or(failure, kerr.ErrorForCode(p.ErrorCode))
			}
		}
	})
	return failure
}
