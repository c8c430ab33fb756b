package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// round is one turn of the loop: poll, and carry what came over in one
// transaction. An error ends Run.
func (v *Validated) round(ctx context.Context) error {
	fetches := v.session.PollRecords(ctx, v.cfg.MaxPoll)
	if fetches.IsClientClosed() {
		return kgo.ErrClientClosed
	}
	if err := v.refused(fetches); err != nil {
		return err
	}
	records := fetches.Records()
	if len(records) == 0 {
		if fetches.Err() != nil { // it may come back at once, so wait it out
			v.failed++
			v.rest(ctx)
		}
		return nil
	}
	for _, record := range records {
		v.seen[record.Partition] = true
	}
	// From here on the end of ctx is not looked at: a transaction is finished, in
	// bounded time, and not left for its timeout.
	done, err := v.transact(context.WithoutCancel(ctx), records)
	if err != nil {
		return err
	}
	if done {
		v.failed = 0
		return nil
	}
	v.failed++
	if err := v.rewind(ctx); err != nil {
		return err
	}
	v.rest(ctx)
	return nil
}

// refused tells an operator of fetch errors that the client does not retry by
// itself. The end of Run is not one.
func (v *Validated) refused(fetches kgo.Fetches) error {
	var fatal error
	fetches.EachError(func(topic string, partition int32, err error) {
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		case errors.Is(err, kerr.FencedInstanceID):
			fatal = fmt.Errorf("joining group %s: %w", v.cfg.Group, err)
		default:
			v.alert(AlertFetchFailed, "%s/%d: %v", topic, partition, err)
		}
	})
	return fatal
}

// rest waits before the next round, longer the more rounds have failed.
func (v *Validated) rest(ctx context.Context) {
	sleep(ctx, backoffAfter(v.failed, v.cfg.Backoff, v.cfg.CoolDown))
}

// transact carries records over in one transaction and says whether it is known
// to be committed. If not, nothing may be concluded but what [Validated.rewind]
// finds out. An error ends Run.
func (v *Validated) transact(ctx context.Context, records []*kgo.Record) (bool, error) {
	if err := v.session.Begin(); err != nil {
		if isFinal(err) {
			return false, fmt.Errorf("beginning a transaction: %w", err)
		}
		v.alert(AlertAborted, "beginning a transaction: %v", err)
		return false, nil
	}
	commit := kgo.TryCommit
	if err := v.produce(records); err != nil {
		v.alert(AlertAborted, "offsets from %s/%d/%d on: %v",
			v.cfg.Input, records[0].Partition, records[0].Offset, err)
		commit = kgo.TryAbort
	}
	if err := v.fenced.Load(); err != nil {
		// Not even an abort: nothing of this identity is ours any more.
		return false, *err
	}
	committed, err := v.end(ctx, commit)
	if late := v.fenced.Load(); late != nil && err == nil {
		err = *late
	}
	return committed, err
}

// isFinal says whether an error of Begin means that this client can do nothing
// more under its identity. The client says so itself, by a code of the broker;
// anything else, such as a coordinator that was not reached, may pass.
func isFinal(err error) bool {
	var answer *kerr.Error
	return errors.Is(err, kgo.ErrClientClosed) || isFenced(err) ||
		errors.As(err, &answer) && !answer.Retriable
}

// produce writes what the contract accepts and waits for the acknowledgements,
// at most MaxBatchTime. The produces get no context that ends: taking a record
// back that may have been written is for the abort to do.
func (v *Validated) produce(records []*kgo.Record) error {
	acks := make(chan error, len(records))
	waiting := 0
	for _, record := range records {
		if Classify(record.Key, record.Value) != nil {
			continue
		}
		waiting++
		v.session.TryProduce(context.Background(), v.output(record),
			func(_ *kgo.Record, err error) {
				if err != nil && isFenced(err) {
					v.fenced.CompareAndSwap(nil, &err)
				}
				acks <- err
			})
	}
	late := time.NewTimer(v.cfg.MaxBatchTime)
	defer late.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case err := <-acks:
			if err != nil {
				return fmt.Errorf("producing to %s: %w", v.cfg.Output, err)
			}
		case <-late.C:
			return fmt.Errorf("producing to %s: %d records without an answer after %v",
				v.cfg.Output, waiting, v.cfg.MaxBatchTime)
		}
	}
	return nil
}

// output is what an accepted record becomes: the same, with its origin.
func (v *Validated) output(record *kgo.Record) *kgo.Record {
	origin := Origin{record.Topic, record.Partition, record.Offset}
	return &kgo.Record{
		Topic:   v.cfg.Output,
		Key:     record.Key,
		Value:   record.Value,
		Headers: append(slices.Clone(record.Headers), origin.headers()...),
	}
}
