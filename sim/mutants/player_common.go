package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// closing is how long a player may take to flush when it is asked to stop,
// virtual; as the right one has it.
const closing = 20 * time.Second

// newPlayer returns a right player: the mistakes are in what is made of it. It
// gives up on an event after giveUp, virtual.
func newPlayer(env sim.Env, giveUp time.Duration) (*hops.Player, error) {
	return hops.NewPlayer(hops.PlayerConfig{
		Kafka: env.Kafka, Topic: worlds.Progress, GiveUp: giveUp,
		Alert: func(a hops.Alert) { env.Alert(a.What, a.Detail) },
	})
}

// takeAsks calls publish for every ask until there are no more or ctx ends.
// publish must not wait for the outcome.
func takeAsks(ctx context.Context, inbox *sim.Inbox, publish func(sim.Ask, hops.Progress)) error {
	for {
		ask, ok := inbox.Next(ctx)
		if !ok {
			return nil
		}
		var e hops.Progress
		if err := json.Unmarshal(ask.Value, &e); err != nil {
			return fmt.Errorf("an ask that is no progress event: %w", err)
		}
		publish(ask, e)
	}
}

// flush waits for what is still being published, and closes the player: together
// within the time for closing. A nil open is nothing beside what the player has.
func flush(ctx context.Context, player *hops.Player, open *sync.WaitGroup) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		if open != nil {
			open.Wait()
		}
	}()
	select {
	case <-settled:
	case <-end.Done():
	}
	err := player.Close(end) // ends what is open
	<-settled
	return err
}

// publishEach publishes every ask in a goroutine of its own, with a player that gives
// up after giveUp, and answers with what publish returned.
func publishEach(
	ctx context.Context, env sim.Env, giveUp time.Duration,
	publish func(context.Context, *hops.Player, hops.Progress) error,
) error {
	player, err := newPlayer(env, giveUp)
	if err != nil {
		return err
	}
	var open sync.WaitGroup
	err = takeAsks(ctx, env.Inbox, func(ask sim.Ask, e hops.Progress) {
		open.Go(func() { env.Inbox.Answer(ask, worlds.OutcomeOf(publish(ctx, player, e))) })
	})
	if err != nil {
		return err
	}
	return flush(ctx, player, &open)
}

// pause waits, less when ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
