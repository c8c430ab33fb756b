package mutants

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// Of a poller: how many rows it claims, and how long it rests when there are none,
// virtual.
const (
	pollerBatch = 5
	pollerIdle  = 200 * time.Millisecond
)

// pollerJob is an outbox poller as people write their first one: claim, publish one row
// after the other, mark, and at the first error exit, so that the supervisor starts it
// again and the server gives its rows back. The fields are where it can go wrong.
type pollerJob struct {
	// claim takes rows, and says in l.rows what of them is to be published.
	claim func(l *pollerLife, ctx context.Context) error
	// steps are what is done of a claim.
	steps []func(l *pollerLife, ctx context.Context) error
	// options are the producer's beyond the usual ones.
	options []kgo.Opt
}

// newPollerJob returns a job without a mistake.
func newPollerJob() *pollerJob {
	return &pollerJob{
		claim: (*pollerLife).claimFree,
		steps: []func(*pollerLife, context.Context) error{
			(*pollerLife).publish, (*pollerLife).mark,
		},
	}
}

// pollerLife is one life of a job, with the claim in hand.
type pollerLife struct {
	sim.Env
	*kgo.Client
	claim uint64 // 0: none
	rows  []*kgo.Record
	last  int64 // id of the last row, where that is the cursor
}

// run is one life: it polls until ctx ends.
func (j *pollerJob) run(ctx context.Context, env sim.Env) error {
	client, err := kgo.NewClient(append(j.options[:len(j.options):len(j.options)],
		env.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	l := &pollerLife{Env: env, Client: client}
	for ctx.Err() == nil {
		if err := j.round(ctx, l); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// round publishes one claim, or rests.
func (j *pollerJob) round(ctx context.Context, l *pollerLife) error {
	if err := j.claim(l, ctx); err != nil {
		return fmt.Errorf("claiming: %w", err)
	}
	if l.claim == 0 {
		pause(ctx, pollerIdle)
		return nil
	}
	for _, step := range j.steps {
		if err := step(l, ctx); err != nil {
			return err
		}
	}
	return nil
}

// claimFree takes rows of which nobody has the key.
func (l *pollerLife) claimFree(ctx context.Context) (err error) {
	var keys []string
	var values [][]byte
	l.claim, keys, values, err = l.Database.Claim(ctx, pollerBatch)
	l.rows = recordsOf(keys, values)
	return err
}

// recordsOf returns changes as they are published.
func recordsOf(keys []string, values [][]byte) []*kgo.Record {
	var records []*kgo.Record
	for i, key := range keys {
		records = append(records, &kgo.Record{
			Topic: worlds.EnrollmentTopic, Key: []byte(key), Value: values[i],
		})
	}
	return records
}

// publish appends row after row, and waits for each.
func (l *pollerLife) publish(ctx context.Context) error {
	for _, r := range l.rows {
		if err := l.ProduceSync(ctx, r).FirstErr(); err != nil {
			return fmt.Errorf("publishing: %w", err)
		}
	}
	return nil
}

// mark marks the claim's rows as published.
func (l *pollerLife) mark(ctx context.Context) error {
	if err := l.Database.Mark(ctx, l.claim); err != nil {
		return fmt.Errorf("marking: %w", err)
	}
	return nil
}
