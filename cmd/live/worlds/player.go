package worlds

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// closing is how long a player may take to flush when it is asked to stop; less than the
// supervisor's grace.
const closing = 20 * time.Second

func init() {
	const replicas = 2
	register(World{
		Name: "player",
		Says: "2 players publish what applications ask, " +
			"and are asked again until they say done",
		Topics:    []Topic{{Name: bus.Progress, Partitions: Partitions}},
		Processes: []Process{{Name: "player", Replicas: replicas, Run: runPlayer}},
		Values: func(rng *rand.Rand, n int) [][]byte {
			values := make([][]byte, n)
			for i := range values {
				values[i] = bus.Marshal(bus.Event(rng, i))
			}
			return values
		},
		Asked:    true,
		Identify: bus.Identify,
		Promises: []props.Property{
			props.AckedIsStored(bus.Progress),
			props.NoUnaskedAppend(bus.Progress),
			props.AckedOffsetsUnique(bus.Progress),
			props.Identity(bus.Progress),
			props.NotDoneIsSo(bus.Progress),
			props.NoSilentDrop(),
			props.AllAnswered(),
		},
		Spec: "player",
		At:   specs.Topology{Topic: bus.Progress, Proc: "player", Partitions: Partitions},
		Points: crossed("player", replicas,
			map[string]int{"Produce": 8, "InitProducerID": 1, "Metadata": 2}, nil),
	})
}

// runPlayer is one life of a player: it publishes what is asked of it and answers with
// the outcome.
func runPlayer(ctx context.Context, env Env) error {
	player, err := hops.NewPlayer(hops.PlayerConfig{
		Kafka: env.Kafka, Topic: env.Names.Of(bus.Progress), GiveUp: 30 * time.Second,
		Alert: alert(env),
	})
	if err != nil {
		return err
	}
	for {
		ask, ok := env.Inbox.Next(ctx)
		if !ok {
			break
		}
		var e hops.Progress
		if err := json.Unmarshal(ask.Value, &e); err != nil {
			return fmt.Errorf("an ask that is no progress event: %w", err)
		}
		player.Submit(e, func(_ hops.Receipt, err error) {
			env.Inbox.Answer(ask, bus.OutcomeOf(err))
		})
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	return player.Close(end)
}
