package hops

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// publishError says that a change is not known to be in the topic.
type publishError struct{ err error }

func (e *publishError) Error() string { return "publishing: " + e.err.Error() }

func (e *publishError) Unwrap() error { return e.err }

// mostInFlight is what the client buffers by default; it refuses more.
const mostInFlight = 10_000

// errNoAck is why a wait for acknowledgements ended.
var errNoAck = errors.New("no acknowledgement in time")

// changeProducer appends changes under the client's idempotence. Its user has at
// most one change of a key without an answer: only so does the order of a key
// survive whatever becomes of one append. A producer that met an error, on the
// other hand, may have more behind it that is appended all the same.
//
// After any error the client is given up, whatever the error was. Closing it ends
// its tries to append what the next client will append again; what is already on
// its way may still come, as one more copy of a change that is sent again anyway.
type changeProducer struct {
	topic  string
	opts   []kgo.Opt
	client *kgo.Client // nil: the next append opens one
}

func newChangeProducer(topic string, kafka []kgo.Opt) (*changeProducer, error) {
	p := &changeProducer{topic: topic, opts: append([]kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// A batch whose answer was lost is tried again after a look at the metadata;
		// with the default of 5 s two lost answers cost a good part of AckTimeout.
		kgo.MetadataMinAge(time.Second),
	}, kafka...)}
	return p, kgo.ValidateOpts(p.opts...)
}

// send starts an append. Done is called once, from any goroutine, and must not
// block. The record has no context that ends: see [Player].
func (p *changeProducer) send(key string, value []byte, done func(error)) {
	if p.client == nil {
		client, err := kgo.NewClient(p.opts...)
		if err != nil {
			done(err)
			return
		}
		p.client = client
	}
	record := &kgo.Record{Topic: p.topic, Key: []byte(key), Value: value}
	p.client.TryProduce(context.Background(), record, func(r *kgo.Record, err error) {
		if err == nil && r.Offset < 0 {
			err = errNoOffset
		}
		done(err)
	})
}

// discard gives the client up. Its appends without an answer fail.
func (p *changeProducer) discard() {
	if p.client != nil {
		p.client.Close()
		p.client = nil
	}
}
