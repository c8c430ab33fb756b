package supervise

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/bus"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// feeder is the name under which a history shows what the run itself appends.
const feeder = "world/0"

// burst is how many records flow in at one instant.
const burst = 4

// feed appends the values. Its frames cross a boundary like anybody's, so that the
// history knows the log, but no schedule names it.
func (r *run) feed(ctx context.Context) {
	err := r.append(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fed = true
	if err != nil {
		select {
		case <-r.stopping:
		default:
			r.feedErr = fmt.Errorf("appending the input: %w", err)
		}
	}
}

func (r *run) append(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	file, err := proc.NewFile(proc.FileConfig{
		Path: r.Folder.Events(feeder, 1), Proc: feeder, Life: 1, Began: r.began,
		Names: r.names, Fail: r.cannotWrite,
	})
	if err != nil {
		return err
	}
	gate := proc.NewGate(proc.GateConfig{File: file})
	done := make(chan struct{})
	defer close(done)
	go gate.Run(done)
	life := tap.NewLife(feeder, 1, gate, r.names.Boundary(r.World))
	file.Record(model.Event{Kind: model.Start})
	client, err := r.Target.Client(
		kgo.Dialer(life.Dialer(new(net.Dialer).DialContext)),
		kgo.WithHooks(tap.Hook{Life: life}))
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	for i := 0; i < len(r.Values); i += burst {
		at := time.Duration(float64(i) / r.Rate * float64(time.Second))
		select {
		case <-time.After(time.Until(began.Add(at))):
		case <-ctx.Done():
			return ctx.Err()
		}
		var records []*kgo.Record
		for _, v := range r.Values[i:min(i+burst, len(r.Values))] {
			records = append(records, &kgo.Record{
				Topic: r.names.Of(bus.Progress), Key: bus.KeyOf(v), Value: v,
			})
		}
		if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}
