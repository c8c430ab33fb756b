package hops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// flight is one event on its way: one event id, one value, several attempts.
type flight struct {
	seq   uint64
	event Progress
	value []byte

	until   time.Time    // when GiveUp is over
	answers chan attempt // one answer per attempt; room for one, so a late one never blocks
	maybe   bool         // an earlier attempt may have been appended

	// Guarded by Player.mu: the flight stays open until both are settled.
	answered bool // the caller has its result
	out      bool // an attempt has no answer yet
}

// attempt is the answer to one produce.
type attempt struct {
	partition int32
	offset    int64
	err       error
	sent      bool // it reached a batch, so it may have been written
}

// sentKey finds the marker that bufferedHook sets in a record's context.
type sentKey struct{}

// bufferedHook marks records that reached a partition's batch. One that failed
// without was never written to any broker: the only proof of NotDone there is.
type bufferedHook struct{}

// OnProduceRecordPartitioned runs under the partition's lock, before the
// record's promise can.
func (bufferedHook) OnProduceRecordPartitioned(r *kgo.Record, _ int32) {
	if sent, ok := r.Context.Value(sentKey{}).(*bool); ok {
		*sent = true
	}
}

// errNoOffset stands for an acknowledgement that names no offset. The client
// makes one of DUPLICATE_SEQUENCE_NUMBER, which says that some batch had this
// number, not that it was ours.
var errNoOffset = errors.New("acknowledged without an offset")

// begin registers an event and starts its first attempt.
func (p *Player) begin(event Progress) (*flight, error) {
	if event.EventID == "" {
		event.EventID = NewEventID()
	}
	value, err := event.Value()
	if err != nil {
		return nil, &SendError{EventID: event.EventID, Outcome: NotDone, Err: err}
	}
	f := &flight{
		event:   event,
		value:   value,
		until:   time.Now().Add(p.cfg.GiveUp),
		answers: make(chan attempt, 1),
		out:     true,
	}
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return nil, &SendError{EventID: event.EventID, Outcome: NotDone, Err: ErrClosed}
	}
	f.seq = p.nextSeq
	p.nextSeq++
	p.open[f.seq] = f
	p.mu.Unlock()
	p.produce(f)
	return f, nil
}

// produce starts one attempt. The record has no context that ends: cancelling
// one that may have been written says nothing about the log, and leaves the
// client's sequence numbers in doubt.
func (p *Player) produce(f *flight) {
	sent := new(bool)
	record := &kgo.Record{
		Topic:   p.cfg.Topic,
		Key:     f.event.Key(),
		Value:   f.value,
		Context: context.WithValue(context.Background(), sentKey{}, sent),
	}
	// TryProduce, since Produce blocks for as long as the buffer is full.
	p.client.TryProduce(record.Context, record, func(r *kgo.Record, err error) {
		if err == nil && r.Offset < 0 {
			err = errNoOffset
		}
		// Settled first: the answer may start the next attempt at once.
		p.settle(f, func() { f.out = false })
		f.answers <- attempt{partition: r.Partition, offset: r.Offset, err: err, sent: *sent}
	})
}

// settle changes a flight under the lock, and forgets it when it is over.
func (p *Player) settle(f *flight, change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	if !f.answered || f.out {
		return
	}
	delete(p.open, f.seq)
	if p.closing && len(p.open) == 0 {
		close(p.drained)
	}
}

// follow drives a flight to its end and says what came of it.
func (p *Player) follow(ctx context.Context, f *flight) (Receipt, error) {
	defer p.settle(f, func() { f.answered = true })
	giveUp := time.NewTimer(time.Until(f.until))
	defer giveUp.Stop()
	for tries := 1; ; tries++ {
		var answer attempt
		select {
		case answer = <-f.answers:
		case <-giveUp.C:
			return p.fail(f, Unknown, fmt.Errorf("no reply within %v", p.cfg.GiveUp))
		case <-ctx.Done():
			return p.fail(f, Unknown, context.Cause(ctx))
		case <-p.quit:
			return p.fail(f, Unknown, ErrClosed)
		}
		if answer.err == nil {
			return Receipt{f.event.EventID, answer.partition, answer.offset}, nil
		}
		outcome, again := judge(answer)
		f.maybe = f.maybe || outcome == Unknown
		if !again {
			return p.fail(f, f.outcome(), answer.err)
		}
		pause := time.NewTimer(backoffAfter(tries, p.cfg.Backoff, playerBackoffMost) + f.turn())
		select {
		case <-pause.C:
		case <-giveUp.C:
			return p.fail(f, f.outcome(), answer.err)
		case <-ctx.Done():
			return p.fail(f, f.outcome(), fmt.Errorf("%w after %w", context.Cause(ctx), answer.err))
		case <-p.quit:
			return p.fail(f, f.outcome(), fmt.Errorf("%w after %w", ErrClosed, answer.err))
		}
		p.settle(f, func() { f.out = true })
		p.produce(f)
	}
}

// turn is how much longer than others a flight waits before it is sent again. What
// failed together is sent again in the order in which it was sent first, so that one
// learner's events seldom change places.
func (f *flight) turn() time.Duration {
	return time.Duration(f.seq%1000) * 10 * time.Microsecond
}

// outcome sums up a flight that has no attempt under way.
func (f *flight) outcome() Outcome {
	if f.maybe {
		return Unknown
	}
	return NotDone
}

func (p *Player) fail(f *flight, outcome Outcome, cause error) (Receipt, error) {
	err := &SendError{EventID: f.event.EventID, Outcome: outcome, Err: cause}
	p.cfg.Alert(Alert{Hop: "player", What: AlertUnresolved, Detail: err.Error()})
	return Receipt{}, err
}

// judge reads a failed attempt: what is known of it, and whether another one
// could end differently.
func judge(a attempt) (outcome Outcome, again bool) {
	for _, refusal := range []error{
		// The broker looked at the record itself and will say the same again,
		// and would have said it to any earlier copy.
		kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord,
	} {
		if errors.Is(a.err, refusal) {
			return NotDone, false
		}
	}
	outcome = Unknown
	if !a.sent {
		outcome = NotDone
	}
	for _, final := range []error{
		kgo.ErrClientClosed, kerr.InvalidTopicException,
		kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	} {
		if errors.Is(a.err, final) {
			return outcome, false
		}
	}
	return outcome, true
}
