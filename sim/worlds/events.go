package worlds

import (
	"math/rand/v2"
	"time"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// Topics of the bus.
const (
	Progress     = bus.Progress
	ProgressDLQ  = bus.ProgressDLQ
	LandingGroup = bus.LandingGroup
)

// How much flows through a world, and how fast.
const (
	events     = 40
	partitions = 2
	burst      = 4 // events at one instant
	burstEvery = 900 * time.Millisecond
)

// Generate returns n values of progress records as a player's day brings them: see
// [bus.Generate].
func Generate(rng *rand.Rand, n int) [][]byte { return bus.Generate(rng, n) }

// inputs spreads values over virtual time, a burst at a time.
func inputs(values [][]byte) []sim.Input {
	in := make([]sim.Input, len(values))
	for i, v := range values {
		in[i] = sim.Input{
			At: time.Duration(i/burst) * burstEvery, Topic: Progress, Key: bus.KeyOf(v), Value: v,
		}
	}
	return in
}

// brokerConfigs keeps sessions short, so that a run does not spend its virtual
// time waiting for the dead.
var brokerConfigs = map[string]string{
	"group.consumer.heartbeat.interval.ms": "3000",
	"group.consumer.session.timeout.ms":    "12000",
}
