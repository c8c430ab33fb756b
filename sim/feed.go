package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// feeder is the name under which a history shows what the world itself appends.
const feeder = "world/0"

// feed appends the inputs when they are due. Its frames cross the boundary like
// anybody's, so that the history knows the log, but no schedule names it.
func (r *run) feed(inputs []Input) {
	defer func() {
		r.mu.Lock()
		r.fed = true
		r.mu.Unlock()
		r.gate.ring()
	}()
	if len(inputs) == 0 {
		return
	}
	l := newLife(feeder, 1, r.gate, func() {})
	r.enroll(l)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(r.brokers...), kgo.Dialer(l.tap.Dialer(r.dial)),
		kgo.WithHooks(tap.Hook{Life: l.tap}), kgo.DisableClientMetrics(),
		kgo.ManualFlushing(), // so that chance has no say in what becomes one batch
	)
	if err != nil {
		panic("sim: options of the world's own producer: " + err.Error())
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.stopping:
			cancel() // an append that is under way then is nobody's any more
		case <-ctx.Done():
		}
	}()
	inputs = slices.Clone(inputs)
	slices.SortStableFunc(inputs, func(a, b Input) int { return cmp.Compare(a.At, b.At) })
	for len(inputs) > 0 {
		at := inputs[0].At
		n := 1
		for n < len(inputs) && inputs[n].At == at {
			n++
		}
		select {
		case <-time.After(time.Until(r.gate.start.Add(at))):
		case <-r.stopping:
			return
		}
		err := appendAll(ctx, client, inputs[:n])
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.mu.Lock()
			r.feedErr = fmt.Errorf("appending the input at %v: %w", at, err)
			r.mu.Unlock()
			return
		}
		inputs = inputs[n:]
	}
}

// appendAll appends the inputs of one instant and returns the first error.
func appendAll(ctx context.Context, client *kgo.Client, inputs []Input) error {
	errs := make([]error, len(inputs))
	for i, in := range inputs {
		r := &kgo.Record{Topic: in.Topic, Key: in.Key, Value: in.Value}
		client.Produce(ctx, r, func(_ *kgo.Record, err error) { errs[i] = err })
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("topic %s: %w", inputs[i].Topic, err)
		}
	}
	return nil
}
