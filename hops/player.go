package hops

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// PlayerConfig says what a [Player] publishes to and how long it tries. Topic
// is required; zero values of the rest mean the defaults written here.
type PlayerConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Topic is where events go.
	Topic string
	// GiveUp bounds one Send in time, over all its attempts. Default 2 minutes.
	GiveUp time.Duration
	// Backoff is the wait before the second attempt; it doubles up to two
	// seconds. Default 100 ms.
	Backoff time.Duration
	// Alert, if set, hears of every event given up. It must not block, and may
	// be called from several goroutines.
	Alert func(Alert)
}

// Receipt says where the log holds an event.
type Receipt struct {
	EventID   string
	Partition int32
	Offset    int64
}

// Outcome is what is known of a request: done, not done, or unknown.
type Outcome string

// The outcomes of a request. A lost reply is Unknown, never NotDone.
const (
	Done    Outcome = "done"
	NotDone Outcome = "not done"
	Unknown Outcome = "unknown"
)

// SendError says that an event has no acknowledgement. With Outcome NotDone the
// log does not hold it; with Unknown it may, now or a little later.
type SendError struct {
	EventID string
	Outcome Outcome
	Err     error
}

func (e *SendError) Error() string {
	return "event " + e.EventID + " is " + string(e.Outcome) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// UnresolvedError lists, in the order of their sends, the events whose outcome
// was still unknown when the player closed.
type UnresolvedError struct{ EventIDs []string }

func (e *UnresolvedError) Error() string { return "events unresolved at close" }

// ErrClosed is the cause when a player is asked to send after Close began.
var ErrClosed = errors.New("player is closed")

// Player publishes progress events. It is safe for concurrent use.
type Player struct{}

// NewPlayer returns a player that connects on its first send.
func NewPlayer(cfg PlayerConfig) (*Player, error) { return nil, errors.ErrUnsupported }

// Send publishes one event and waits for its acknowledgement.
func (p *Player) Send(ctx context.Context, event Progress) (Receipt, error) {
	return Receipt{}, errors.ErrUnsupported
}

// Submit publishes one event and calls done, once, with what came of it.
func (p *Player) Submit(event Progress, done func(Receipt, error)) {
	done(Receipt{}, errors.ErrUnsupported)
}

// Close refuses new sends, waits for those in flight until ctx ends, and closes
// the client.
func (p *Player) Close(ctx context.Context) error { return errors.ErrUnsupported }
