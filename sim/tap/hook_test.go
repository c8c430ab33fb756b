package tap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
)

// TestProduceOutcome reads what promises say. An error is that of the last try, so only
// what no try can have got past is "not done".
func TestProduceOutcome(t *testing.T) {
	for _, x := range []struct {
		err  error
		want model.Outcome
	}{
		{nil, model.Done},

		{kgo.ErrMaxBuffered, model.NotDone},
		{kerr.MessageTooLarge, model.NotDone},
		{kerr.RecordListTooLarge, model.NotDone},
		{kerr.InvalidRecord, model.NotDone},
		{kerr.InvalidTimestamp, model.NotDone},
		{kerr.InvalidTopicException, model.NotDone},
		{kerr.InvalidRequiredAcks, model.NotDone},
		{kerr.UnsupportedForMessageFormat, model.NotDone},
		{kerr.UnsupportedCompressionType, model.NotDone},
		{fmt.Errorf("%w (uncompressed_bytes=9)", kerr.MessageTooLarge), model.NotDone},

		// The client gave up.
		{context.Canceled, model.Unknown},
		{context.DeadlineExceeded, model.Unknown},
		{kgo.ErrRecordTimeout, model.Unknown},
		{kgo.ErrRecordRetries, model.Unknown},
		{kgo.ErrClientClosed, model.Unknown},
		{kgo.ErrAborting, model.Unknown},
		{io.EOF, model.Unknown},
		{errors.New("anything else"), model.Unknown},

		// The broker says so itself, or does not know.
		{kerr.RequestTimedOut, model.Unknown},
		{kerr.NotEnoughReplicasAfterAppend, model.Unknown},
		{kerr.NotLeaderForPartition, model.Unknown},
		{kerr.NetworkException, model.Unknown},
		{kerr.UnknownServerError, model.Unknown},
		{kerr.KafkaStorageError, model.Unknown},
		{kerr.CorruptMessage, model.Unknown},

		// The last try failed, and an earlier one may have been appended.
		{kerr.DuplicateSequenceNumber, model.Unknown},
		{kerr.OutOfOrderSequenceNumber, model.Unknown},
		{kerr.UnknownProducerID, model.Unknown},
		{kerr.InvalidProducerEpoch, model.Unknown},
		{kerr.ProducerFenced, model.Unknown},
		{kerr.InvalidProducerIDMapping, model.Unknown},
		{kerr.InvalidTxnState, model.Unknown},
		{kerr.TransactionAbortable, model.Unknown},
		{kerr.TopicAuthorizationFailed, model.Unknown},
		{kerr.ClusterAuthorizationFailed, model.Unknown},
		{kerr.PolicyViolation, model.Unknown},
		{kerr.UnknownTopicOrPartition, model.Unknown},
		{kerr.NotEnoughReplicas, model.Unknown},
		{fmt.Errorf("produce: %w", kerr.ProducerFenced), model.Unknown},
	} {
		if got := produceOutcome(x.err); got != x.want {
			t.Errorf("%v is %s, not %s", x.err, got, x.want)
		}
	}
}

// TestReplyOutcome reads what one reply says of its own request.
func TestReplyOutcome(t *testing.T) {
	for _, x := range []struct {
		codes []*kerr.Error
		want  model.Outcome
	}{
		{nil, model.Done},
		{[]*kerr.Error{kerr.MessageTooLarge}, model.NotDone},
		{[]*kerr.Error{kerr.InvalidProducerEpoch}, model.NotDone},
		{[]*kerr.Error{kerr.OutOfOrderSequenceNumber}, model.NotDone},
		{[]*kerr.Error{kerr.NotEnoughReplicas}, model.NotDone},
		{[]*kerr.Error{kerr.NotEnoughReplicasAfterAppend}, model.Unknown},
		{[]*kerr.Error{kerr.DuplicateSequenceNumber}, model.Unknown},
		{[]*kerr.Error{kerr.CoordinatorNotAvailable}, model.Unknown},
		{[]*kerr.Error{kerr.CoordinatorLoadInProgress}, model.NotDone},
		{[]*kerr.Error{kerr.MessageTooLarge, kerr.RequestTimedOut}, model.Unknown},
		{[]*kerr.Error{kerr.RequestTimedOut, kerr.MessageTooLarge}, model.Unknown},
		{[]*kerr.Error{{Message: "NEW", Code: 9999}}, model.Unknown},
	} {
		e := model.Event{Outcome: model.Done}
		conclude(&e, 0)
		for _, c := range x.codes {
			conclude(&e, c.Code)
		}
		conclude(&e, 0)
		if e.Outcome != x.want {
			t.Errorf("%v is %s, not %s", x.codes, e.Outcome, x.want)
		}
	}
}

// TestHookNotes: a "send" for what a producer took, an "ack" for what its promise says,
// a "seen" for what a reader was handed.
func TestHookNotes(t *testing.T) {
	gate := newScript()
	h := Hook{Life: NewLife("p/0", 1, gate, newTestNames())}
	r := &kgo.Record{
		Topic: "a", Partition: 3, Offset: 17, Key: []byte("k"), Value: []byte("v"),
		Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}},
	}
	h.OnProduceRecordBuffered(r)
	gate.noted(t, "note send [a/-1 {id=v key=k}]")
	h.OnProduceRecordUnbuffered(r, nil)
	gate.noted(t, "note ack done [a/3 {@17 id=v key=k}]")
	h.OnProduceRecordUnbuffered(r, fmt.Errorf("%w (uncompressed_bytes=9)", kerr.MessageTooLarge))
	gate.noted(t, "note ack not-done err=MESSAGE_TOO_LARGE [a/-1 {id=v key=k}]")
	h.OnProduceRecordUnbuffered(r, context.Canceled)
	gate.noted(t, `note ack unknown err="context canceled" [a/-1 {id=v key=k}]`)

	h.OnFetchRecordUnbuffered(r, true)
	gate.noted(t)
	h.Reader = true
	h.OnFetchRecordUnbuffered(r, false) // dropped, not handed out
	gate.noted(t)
	h.OnFetchRecordUnbuffered(r, true)
	gate.noted(t, "note seen [a/3 {@17 id=v key=k}]")

	h.Life.Sever()
	h.OnProduceRecordUnbuffered(r, nil)
	h.OnFetchRecordUnbuffered(r, true)
	gate.noted(t)
}

// TestHookAcksZero: nobody told the client an offset, so the ack tells none.
func TestHookAcksZero(t *testing.T) {
	gate := newScript()
	h := Hook{Life: NewLife("p/0", 1, gate, newTestNames())}
	for _, x := range []struct {
		acks kgo.Acks
		want string
	}{
		{kgo.LeaderAck(), "note ack done [a/3 {@0 id=v}]"},
		{kgo.NoAck(), "note ack done [a/3 {id=v}]"},
	} {
		c, err := kgo.NewClient(kgo.WithHooks(h), kgo.SeedBrokers("127.0.0.1:1"),
			kgo.RequiredAcks(x.acks), kgo.DisableIdempotentWrite())
		if err != nil {
			t.Fatal(err)
		}
		h.OnProduceRecordUnbuffered(&kgo.Record{Topic: "a", Partition: 3, Value: []byte("v")}, nil)
		gate.noted(t, x.want)
		c.Close()
	}
}

// TestHookClients: a real client tells its hook that it is there, what it takes, and
// what it could not do.
func TestHookClients(t *testing.T) {
	gate := newScript()
	life := NewLife("p/0", 1, gate, newTestNames())
	var clients []*kgo.Client
	for range 2 {
		c, err := kgo.NewClient(kgo.WithHooks(Hook{Life: life}), kgo.SeedBrokers("127.0.0.1:1"),
			kgo.Dialer(life.Dialer(nil)), kgo.MaxBufferedRecords(1), kgo.ManualFlushing())
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	if got := life.Clients(); len(got) != 2 || got[0] != clients[0] || got[1] != clients[1] {
		t.Errorf("the life knows %v, not %v", got, clients)
	}
	life.Clients()[0] = nil // the caller's own
	if life.Clients()[0] == nil {
		t.Error("the life's clients are shared with the caller")
	}
	life.Sever() // so that nothing dials; the hook then notes nothing
	for _, c := range clients {
		c.CloseAllowingRebalance()
	}
	gate.noted(t)
}
