package worlds

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// BlockSize is how many offsets a block has in the worlds with block naming.
const BlockSize = 8

func init() {
	two := Setup{Replicas: 2}
	for name, s := range map[string]Setup{
		"landing":         two,
		"landing-one":     {Replicas: 1},
		"landing-classic": {Replicas: 2, Classic: true},
		"landing-block":   {Replicas: 2, Naming: hops.Block},
	} {
		w := Landing(name, s)
		register(Entry{
			World: w, Hop: 2,
			Claim: "at-least-once processing, one object per offset; rejects in the DLQ",
			WithEvents: func(values [][]byte) sim.World {
				w.Input = func(*rand.Rand) []sim.Input { return inputs(values) }
				return w
			},
			Spec: "landing", At: s.Topology(),
		})
	}
}

// members says how many members of a kind a world has.
func members(n int, kind string) string {
	if n == 1 {
		return "1 " + kind + " member"
	}
	return strconv.Itoa(n) + " " + kind + " members"
}

// Setup is what differs between the landing worlds.
type Setup struct {
	Replicas int
	Naming   hops.Naming
	Classic  bool // the classic group protocol instead of KIP-848
}

// Topology says where in a history a landing world's traffic is.
func (s Setup) Topology() specs.Topology {
	at := specs.Topology{
		Topic: Progress, DLQ: ProgressDLQ, Group: LandingGroup, Proc: "landing",
		Partitions: partitions,
	}
	if s.Naming == hops.Block {
		at.Block = BlockSize
	}
	return at
}

// Landing is the world of hop 2 under a name.
func Landing(name string, s Setup) sim.World {
	says := members(s.Replicas, "landing")
	if s.Classic {
		says += ", classic group"
	}
	if s.Naming == hops.Block {
		says += ", one object per block of " + strconv.Itoa(BlockSize) + " offsets"
	}
	return sim.World{
		Name: name, Says: says,
		Topics: []sim.Topic{
			{Name: Progress, Partitions: partitions},
			{Name: ProgressDLQ, Partitions: 1},
		},
		Groups: []string{LandingGroup},
		Processes: []sim.Process{
			{Name: "landing", Replicas: s.Replicas, Run: s.Run}, CourseDay(),
		},
		Input:    func(rng *rand.Rand) []sim.Input { return inputs(Generate(rng, events)) },
		Identify: bus.Identify,
		Describe: Describe,
		Classify: bus.CellsOf(day),
		Promises: []props.Property{
			props.NoLoss(Progress, LandingGroup, ProgressDLQ),
			props.OneObjectPerOffset(Progress),
			props.RerunSameBytes(Progress),
			props.CommitWithinResolved(Progress, LandingGroup, ProgressDLQ),
			props.CommitMonotonic(LandingGroup),
			props.ResendVisible(Progress, LandingGroup, ProgressDLQ),
			props.Drains(Progress, LandingGroup),
			props.CourseDay(Progress, LandingGroup),
		},
		Sometimes: []props.Sometimes{
			props.SometimesCrash(), props.SometimesResend(Progress),
			props.SometimesRejected(ProgressDLQ),
		},
		Evidence: append(courseDays(), repeatedPuts(), copies(Progress),
			copies(ProgressDLQ)),
		Drained:       landed,
		BrokerConfigs: brokerConfigs,
	}
}

// Run is one life of a landing member.
func (s Setup) Run(ctx context.Context, env sim.Env) error {
	landing, err := hops.NewLanding(s.Config(env))
	if err != nil {
		return err
	}
	return landing.Run(ctx)
}

// Config returns the configuration of a landing member in a world: the hop's own
// defaults, with waits that suit short runs.
func (s Setup) Config(env sim.Env) hops.LandingConfig {
	kafka := env.Kafka
	if s.Classic {
		// The short rebalance timeout also keeps two members from waiting for ever
		// on a count that kfake gets wrong (docs/decisions/0004).
		kafka = append(kafka[:len(kafka):len(kafka)],
			kgo.SessionTimeout(12*time.Second), kgo.RebalanceTimeout(5*time.Second))
	}
	return hops.LandingConfig{
		Kafka: kafka, Store: env.Objects, Topic: Progress, DLQ: ProgressDLQ,
		Group: LandingGroup, Naming: s.Naming, BlockSize: BlockSize,
		FlushAfter: 5 * time.Second, Classic: s.Classic, CoolDown: 10 * time.Second,
		Alert: alert(env),
	}
}

// landed reports whether the group has committed all that was appended.
func landed(v *model.View) bool {
	for p := range int32(partitions) {
		if max(0, v.Committed(LandingGroup, Progress, p)) < v.End(Progress, p) {
			return false
		}
	}
	return true
}

// Describe says which offsets an object of landing holds: see [bus.Describe].
func Describe(key string, body []byte) ([]model.Part, []model.Count) {
	return bus.Describe(key, body)
}
