package worlds

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// Names of hop 4.
const (
	ValidatedTopic = bus.ValidatedTopic
	ValidatedGroup = bus.ValidatedGroup
)

// Times of the validated worlds, virtual.
const (
	txnTimeout = 15 * time.Second
	// lsoBound is how long the last stable offset may stand still: the transaction
	// timeout, and what it takes a coordinator to notice and a reader to see.
	lsoBound = txnTimeout + 10*time.Second
	// epochs of one transactional id within a minute: restarts back off to 10 s, and
	// a member takes a new epoch after a failed transaction. A fencing fight has more.
	epochs = 20
)

func init() {
	for name, s := range map[string]ValidatedSetup{
		"validated":         {Replicas: 2},
		"validated-one":     {Replicas: 1},
		"validated-classic": {Replicas: 2, Classic: true},
		"validated-twins":   {Replicas: 2, Twins: true},
	} {
		w := Validated(name, s)
		register(Entry{
			World: w, Hop: 4,
			Claim: "exactly-once inside Kafka, for readers with read_committed",
			WithEvents: func(values [][]byte) sim.World {
				w.Input = func(*rand.Rand) []sim.Input { return inputs(values) }
				return w
			},
			Spec: "validated",
			At: specs.Topology{
				Topic: Progress, Out: ValidatedTopic, Group: ValidatedGroup, Proc: "validated",
				Partitions: partitions,
			},
		})
	}
}

// ValidatedSetup is what differs between the validated worlds.
type ValidatedSetup struct {
	Replicas int
	Classic  bool // the classic group protocol instead of KIP-848
	// Twins gives all members one transactional id, as a wrong deployment would.
	// The first is its owner; another that is fenced is not started again.
	Twins bool
}

// Validated is the world of hop 4 under a name: members that copy what the contract
// accepts in transactions, and a reader of what they write at each isolation level.
func Validated(name string, s ValidatedSetup) sim.World {
	says := members(s.Replicas, "transactional")
	if s.Classic {
		says += ", classic group"
	}
	sometimes := []props.Sometimes{
		props.SometimesCrash(),
		props.SometimesAborted(ValidatedTopic),
		props.SometimesLostEnd(),
	}
	if s.Twins {
		says += " of one transactional id"
		sometimes = append(sometimes, props.SometimesFenced())
	}
	return sim.World{
		Name: name, Says: says + ", and a reader at each isolation level",
		Topics: []sim.Topic{
			{Name: Progress, Partitions: partitions},
			{Name: ValidatedTopic, Partitions: partitions},
		},
		Groups: []string{ValidatedGroup},
		Processes: []sim.Process{
			{Name: "validated", Replicas: s.Replicas, Run: s.Run},
			{Name: "reader", Reader: true, Run: Reader(hops.ReadCommitted)},
			{Name: "uncommitted", Reader: true, Run: Reader(hops.ReadUncommitted)},
		},
		Input:    func(rng *rand.Rand) []sim.Input { return inputs(Generate(rng, events)) },
		Identify: bus.Identify,
		Classify: bus.Classify,
		Promises: []props.Property{
			props.ExactlyOnce(Progress, ValidatedTopic, ValidatedGroup),
			props.NoAbortedVisible(ValidatedTopic, "reader"),
			props.SeenOnce(ValidatedTopic, "reader"),
			props.OrderPerPartition(Progress, ValidatedTopic),
			props.OffsetsOnlyInTransactions(ValidatedGroup),
			props.OffsetArithmetic(Progress, ValidatedTopic, ValidatedGroup),
			props.FencedStops(),
			props.OneOwner(),
			props.LSOProgress(ValidatedTopic, lsoBound),
			props.NoExternalCallInTransaction(),
			props.EpochsBounded(epochs, time.Minute),
			props.Drains(Progress, ValidatedGroup),
		},
		Sometimes: sometimes,
		Evidence: []props.Evidence{
			abortedCopies(), seenBy("uncommitted"), seenBy("reader"),
		},
		Drained:       validated,
		BrokerConfigs: brokerConfigs,
	}
}

// Run is one life of a transactional member.
func (s ValidatedSetup) Run(ctx context.Context, env sim.Env) error {
	v, err := hops.NewValidated(s.Config(env))
	if err != nil {
		return err
	}
	err = v.Run(ctx)
	// The owner of an id is started again: its own coordinator fenced it, after a
	// pause past the transaction timeout, or the twin did. The twin is not.
	var fenced *hops.FencedError
	if s.Twins && env.Replica > 0 && errors.As(err, &fenced) {
		return nil
	}
	return err
}

// Config returns the configuration of a member in a world.
func (s ValidatedSetup) Config(env sim.Env) hops.ValidatedConfig {
	kafka := env.Kafka
	if s.Classic {
		kafka = append(kafka[:len(kafka):len(kafka)],
			kgo.SessionTimeout(12*time.Second), kgo.RebalanceTimeout(5*time.Second))
	}
	instance := env.Instance
	if s.Twins {
		instance = "twin"
	}
	return hops.ValidatedConfig{
		Kafka: kafka, Input: Progress, Output: ValidatedTopic, Group: ValidatedGroup,
		Instance: instance, Classic: s.Classic, TransactionTimeout: txnTimeout,
		CallTimeout: 10 * time.Second, Alert: alert(env),
	}
}

// Reader returns a process that reads the validated topic at an isolation level,
// from its start in every life.
func Reader(isolation hops.Isolation) func(context.Context, sim.Env) error {
	return func(ctx context.Context, env sim.Env) error {
		r, err := hops.NewValidatedReader(hops.ValidatedReaderConfig{
			Kafka: env.Kafka, Topic: ValidatedTopic, Isolation: isolation, Alert: alert(env),
		})
		if err != nil {
			return err
		}
		return r.Run(ctx, func(hops.Seen) {})
	}
}

// validated reports whether the group has committed all that came in.
func validated(v *model.View) bool {
	for p := range int32(partitions) {
		if max(0, v.Committed(ValidatedGroup, Progress, p)) < v.End(Progress, p) {
			return false
		}
	}
	return true
}
