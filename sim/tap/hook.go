package tap

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
)

// Hook tells a [Life] what its franz-go clients accept and promise: a "send" note
// for every record that enters a producer, and an "ack" note for what its promise
// says. Give it to kgo.WithHooks. It is safe for concurrent use.
type Hook struct {
	Life *Life
	// Reader adds a "seen" note for every record that a consumer hands out.
	Reader bool
}

// The moments that franz-go tells a Hook of.
var (
	_ kgo.HookNewClient               = Hook{}
	_ kgo.HookProduceRecordBuffered   = Hook{}
	_ kgo.HookProduceRecordUnbuffered = Hook{}
	_ kgo.HookFetchRecordUnbuffered   = Hook{}
)

// OnNewClient remembers the client, so that it can be closed when its process is
// dead.
func (h Hook) OnNewClient(c *kgo.Client) {
	h.Life.mu.Lock()
	defer h.Life.mu.Unlock()
	h.Life.clients = append(h.Life.clients, c)
	if c.OptValue(kgo.RequiredAcks) == kgo.NoAck() {
		h.Life.noAcks = true
	}
}

// OnProduceRecordBuffered notes a "send".
func (h Hook) OnProduceRecordBuffered(r *kgo.Record) {
	e := h.note("send", r)
	e.Parts[0].Partition = -1
	h.Life.Note(e)
}

// OnProduceRecordUnbuffered notes an "ack": done with the record's offset, not
// done where no try can have appended the record, and unknown otherwise. A life that
// has a producer with acks=0 says no offsets: franz-go counts such a producer's records
// from 0, though no broker said so, and a record does not tell whose it was.
func (h Hook) OnProduceRecordUnbuffered(r *kgo.Record, err error) {
	e := h.note("ack", r)
	e.Outcome = produceOutcome(err)
	if err != nil {
		e.Err = errText(err)
		e.Parts[0].Partition = -1
	} else if !h.Life.producesBlindly() {
		e.Parts[0].Records[0].Offset = r.Offset
	}
	h.Life.Note(e)
}

// OnFetchRecordUnbuffered notes a "seen" for a record that was polled.
func (h Hook) OnFetchRecordUnbuffered(r *kgo.Record, polled bool) {
	if !h.Reader || !polled {
		return
	}
	e := h.note("seen", r)
	e.Parts[0].Records[0].Offset = r.Offset
	h.Life.Note(e)
}

func (h Hook) note(op string, r *kgo.Record) model.Event {
	raw := Raw{Topic: r.Topic, Key: r.Key, Value: r.Value}
	for _, x := range r.Headers {
		raw.Headers = append(raw.Headers, Header(x))
	}
	e := newEvent(model.Note, op, len(r.Value))
	part := model.PartOf(r.Topic, r.Partition)
	part.Records = []model.Record{h.Life.names.describe(raw)}
	e.Parts = []model.Part{part}
	return e
}

// produceOutcome reads a promise's error. The error is that of the last try, and an
// earlier one whose reply was lost may have appended the record. So only what is wrong
// with the record itself, and would have been at every try, means "not done": a
// producer that is fenced now, an authorization that is missing now, a time-out, a
// cancelled context or a lost connection may each hide an append.
func produceOutcome(err error) model.Outcome {
	if err == nil {
		return model.Done
	}
	if errors.Is(err, kgo.ErrMaxBuffered) {
		return model.NotDone // the client never took it
	}
	var refused *kerr.Error
	if errors.As(err, &refused) {
		switch refused {
		case kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord,
			kerr.InvalidTimestamp, kerr.InvalidTopicException, kerr.InvalidRequiredAcks,
			kerr.UnsupportedForMessageFormat, kerr.UnsupportedCompressionType:
			return model.NotDone
		}
	}
	return model.Unknown
}

// errText is the short form of an error: the protocol's name where it has one.
func errText(err error) string {
	var k *kerr.Error
	if errors.As(err, &k) {
		return k.Message
	}
	return err.Error()
}
