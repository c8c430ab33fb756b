package worlds

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

func init() {
	w := Player()
	register(Entry{
		World: w, Hop: 1,
		Claim: "at-least-once per event id; no append that no send asked for",
		WithEvents: func(values [][]byte) sim.World {
			w.Asks = func(*rand.Rand) []sim.Ask { return asks(sendable(values), nil) }
			return w
		},
		Spec: "player",
		At:   specs.Topology{Topic: Progress, Proc: "player", Partitions: partitions},
	})
}

// apart is between two asks of a burst, virtual.
const apart = 3100 * time.Microsecond

// closing is how long a player may take to flush when it is asked to stop,
// virtual; less than the supervisor's grace.
const closing = 20 * time.Second

// Player is the world of hop 1: two players that applications ask to publish.
func Player() sim.World {
	return sim.World{
		Name: "player",
		Says: "two players publish what applications ask, " +
			"and are asked again until they say done",
		Topics:    []sim.Topic{{Name: Progress, Partitions: partitions}},
		Processes: []sim.Process{{Name: "player", Replicas: 2, Run: RunPlayer}},
		Asks: func(rng *rand.Rand) []sim.Ask {
			values := make([][]byte, events)
			for i := range values {
				values[i] = bus.Marshal(bus.Event(rng, i))
			}
			return asks(values, rng)
		},
		Identify: bus.Identify,
		Promises: []props.Property{
			props.AckedIsStored(Progress),
			props.NoUnaskedAppend(Progress),
			props.AckedOffsetsUnique(Progress),
			props.Identity(Progress),
			props.NotDoneIsSo(Progress),
			props.NoSilentDrop(),
			props.AllAnswered(),
		},
		Sometimes: []props.Sometimes{
			props.SometimesCrash(), props.SometimesResend(Progress),
		},
		Evidence:      []props.Evidence{copies(Progress)},
		BrokerConfigs: brokerConfigs,
	}
}

// asks makes an ask of each value; with an rng, one in ten is asked again although
// it was done, as by an application that never saw the answer.
func asks(values [][]byte, rng *rand.Rand) []sim.Ask {
	list := make([]sim.Ask, len(values))
	for i, v := range values {
		id, _ := bus.Identify(bus.Raw(v))
		list[i] = sim.Ask{
			// A little apart even in a burst, so that no two time out together.
			At: time.Duration(i/burst)*burstEvery + time.Duration(i%burst)*apart,
			ID: id, Key: bus.KeyOf(v), Value: v,
			Again: rng != nil && rng.IntN(10) == 0,
		}
	}
	return list
}

// sendable leaves out what no application could ask a player to publish, and second
// asks of one id, since asks are told apart by it.
func sendable(values [][]byte) [][]byte {
	seen := make(map[string]bool)
	var out [][]byte
	for _, v := range values {
		id, _ := bus.Identify(bus.Raw(v))
		if hops.Classify(bus.KeyOf(v), v) == nil && !seen[id] {
			seen[id] = true
			out = append(out, v)
		}
	}
	return out
}

// RunPlayer is one life of a player: it publishes what is asked of it and answers
// with the outcome.
func RunPlayer(ctx context.Context, env sim.Env) error {
	player, err := hops.NewPlayer(hops.PlayerConfig{
		Kafka: env.Kafka, Topic: Progress, GiveUp: 30 * time.Second, Alert: alert(env),
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
			env.Inbox.Answer(ask, OutcomeOf(err))
		})
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	return player.Close(end)
}

// OutcomeOf reads a player's error as the history does.
func OutcomeOf(err error) model.Outcome { return bus.OutcomeOf(err) }

func alert(env sim.Env) func(hops.Alert) {
	return func(a hops.Alert) { env.Alert(a.What, a.Detail) }
}
