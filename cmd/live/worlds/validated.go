package worlds

import (
	"context"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// Times of the validated world.
const (
	txnTimeout = 15 * time.Second
	// lsoBound is how long the last stable offset may stand still: the transaction
	// timeout, Kafka's look for expired ones every 10 s, and what it takes a reader to see.
	lsoBound = txnTimeout + 20*time.Second
	epochs   = 20 // of one transactional id within a minute
)

func init() {
	const replicas = 2
	register(World{
		Name: "validated",
		Says: "2 transactional members, and a reader at each isolation level",
		Topics: []Topic{
			{Name: bus.Progress, Partitions: Partitions},
			{Name: bus.ValidatedTopic, Partitions: Partitions},
		},
		Groups: []string{bus.ValidatedGroup},
		Processes: []Process{
			{Name: "validated", Replicas: replicas, Run: runValidated},
			{Name: "reader", Replicas: 1, Reader: true, Run: reader(hops.ReadCommitted)},
			{Name: "uncommitted", Replicas: 1, Reader: true, Run: reader(hops.ReadUncommitted)},
		},
		Values:   bus.Generate,
		Identify: bus.Identify,
		Classify: bus.Classify,
		Promises: []props.Property{
			props.ExactlyOnce(bus.Progress, bus.ValidatedTopic, bus.ValidatedGroup),
			props.NoAbortedVisible(bus.ValidatedTopic, "reader"),
			props.SeenOnce(bus.ValidatedTopic, "reader"),
			props.OrderPerPartition(bus.Progress, bus.ValidatedTopic),
			props.OffsetsOnlyInTransactions(bus.ValidatedGroup),
			props.OffsetArithmetic(bus.Progress, bus.ValidatedTopic, bus.ValidatedGroup),
			props.FencedStops(),
			props.OneOwner(),
			props.LSOProgress(bus.ValidatedTopic, lsoBound),
			props.NoExternalCallInTransaction(),
			props.EpochsBounded(epochs, time.Minute),
			props.Drains(bus.Progress, bus.ValidatedGroup),
		},
		Drained: func(ctx context.Context, r Reader) (bool, error) {
			return committedAll(ctx, r, bus.ValidatedGroup, bus.Progress)
		},
		Points: crossed("validated", replicas, map[string]int{
			"Produce": 4, "TxnOffsetCommit": 4, "EndTxn": 4, "Fetch": 4,
			"ConsumerGroupHeartbeat": 3, "OffsetFetch": 1, "InitProducerID": 1,
		}, nil),
	})
}

func runValidated(ctx context.Context, env Env) error {
	v, err := hops.NewValidated(hops.ValidatedConfig{
		Kafka: env.Kafka, Input: env.Names.Of(bus.Progress),
		Output: env.Names.Of(bus.ValidatedTopic), Group: env.Names.Of(bus.ValidatedGroup),
		Instance: env.Instance, TransactionTimeout: txnTimeout, CallTimeout: 10 * time.Second,
		Alert: alert(env),
	})
	if err != nil {
		return err
	}
	return v.Run(ctx)
}

// reader returns a process that reads the validated topic at an isolation level, from its
// start in every life.
func reader(isolation hops.Isolation) func(context.Context, Env) error {
	return func(ctx context.Context, env Env) error {
		r, err := hops.NewValidatedReader(hops.ValidatedReaderConfig{
			Kafka: env.Kafka, Topic: env.Names.Of(bus.ValidatedTopic), Isolation: isolation,
			Alert: alert(env),
		})
		if err != nil {
			return err
		}
		return r.Run(ctx, func(hops.Seen) {})
	}
}
