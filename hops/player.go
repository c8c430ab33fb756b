package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

const playerBackoffMost = 2 * time.Second

// Receipt says where the log holds an event.
type Receipt struct {
	EventID   string
	Partition int32
	Offset    int64
}

// ErrClosed is the cause when a player is asked to send after Close began, or
// when Close ended before an event was resolved.
var ErrClosed = errors.New("player is closed")

// Player publishes progress events: at-least-once per event id, without an
// append that no send asked for. It is safe for concurrent use.
//
// The client resends a batch whose reply was lost under the same sequence
// number, and the broker appends it once. When the client itself gives up on a
// record, the player sends the event again under the same event id: that can be
// a second copy, which readers recognise by the id.
type Player struct {
	cfg    PlayerConfig
	client *kgo.Client

	mu      sync.Mutex
	closing bool
	nextSeq uint64
	open    map[uint64]*flight // sends whose outcome is not known yet
	drained chan struct{}      // closed when closing and open is empty
	quit    chan struct{}      // closed when Close stops waiting

	callbacks sync.WaitGroup // Submits whose done has not returned
}

// NewPlayer returns a player that connects on its first send. It fails when the
// configuration cannot work; it does not dial.
func NewPlayer(cfg PlayerConfig) (*Player, error) {
	if cfg.Topic == "" {
		return nil, errors.New("player: Topic is empty")
	}
	if cfg.GiveUp < 0 || cfg.Backoff < 0 {
		return nil, errors.New("player: GiveUp and Backoff must not be negative")
	}
	if cfg.GiveUp == 0 {
		cfg.GiveUp = 2 * time.Minute
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = 100 * time.Millisecond
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	opts := []kgo.Opt{
		// Idempotence is the client's default and stays on: it makes a lost
		// reply harmless. It needs acks from all in-sync replicas.
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// The client retries without a count, and drops a record after GiveUp
		// only when that leaves no gap in the sequence: never after a request
		// without a reply. Its option to drop even then
		// (AllowIdempotentProduceCancellation) stays off, since the broker could
		// no longer tell a resend from a new record.
		// A tenth earlier than the player itself gives up: the client knows
		// whether a record was ever written, so its verdict should come first.
		kgo.RecordDeliveryTimeout(cfg.GiveUp - cfg.GiveUp/10),
		kgo.WithHooks(bufferedHook{}),
	}
	client, err := kgo.NewClient(append(opts, cfg.Kafka...)...)
	if err != nil {
		return nil, fmt.Errorf("player: creating the Kafka client: %w", err)
	}
	return &Player{
		cfg:     cfg,
		client:  client,
		open:    make(map[uint64]*flight),
		drained: make(chan struct{}),
		quit:    make(chan struct{}),
	}, nil
}

// Send publishes one event and waits for its acknowledgement. An empty EventID
// is minted, once, before the first attempt; every further attempt carries the
// same one. Attempts go on until an acknowledgement, a refusal that no attempt
// can change, GiveUp, or the end of ctx, whichever is first.
//
// The error is a [*SendError]. The end of ctx ends the wait, not the attempt
// that is under way: a request that left cannot be taken back, so the outcome
// is Unknown.
func (p *Player) Send(ctx context.Context, event Progress) (Receipt, error) {
	f, err := p.begin(event)
	if err != nil {
		return Receipt{}, err
	}
	return p.follow(ctx, f)
}

// Submit publishes one event and calls done, once, with what [Player.Send]
// would return. The first attempt is queued before Submit returns, so successive
// Submits of one learner are appended in their order as long as none needs a
// second attempt. Each event in flight costs one goroutine: the caller bounds
// how many. done may send again, but must not call Close, which waits for it.
func (p *Player) Submit(event Progress, done func(Receipt, error)) {
	if !p.expectCallback() {
		go done(Receipt{}, &SendError{event.EventID, NotDone, ErrClosed})
		return
	}
	f, err := p.begin(event)
	go func() {
		defer p.callbacks.Done()
		if err != nil {
			done(Receipt{}, err)
			return
		}
		done(p.follow(context.Background(), f))
	}()
}

// expectCallback counts one more callback for Close to wait for, unless Close
// has begun.
func (p *Player) expectCallback() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closing {
		p.callbacks.Add(1)
	}
	return !p.closing
}

// Close refuses new sends, waits for those in flight until they are resolved or
// ctx ends, and closes the client. If some were not resolved, it returns an
// [*UnresolvedError] that names them; their Sends return too, as Unknown. Every
// done of a Submit has returned before Close does. A second Close returns
// ErrClosed.
func (p *Player) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return ErrClosed
	}
	p.closing = true
	if len(p.open) == 0 {
		close(p.drained)
	}
	p.mu.Unlock()

	select {
	case <-p.drained:
	case <-ctx.Done():
	}
	unresolved := p.unresolved()
	close(p.quit)
	p.client.Close() // fails the promises that are left
	p.callbacks.Wait()
	if len(unresolved) == 0 {
		return nil
	}
	return &UnresolvedError{EventIDs: unresolved}
}

func (p *Player) unresolved() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seqs := make([]uint64, 0, len(p.open))
	for seq := range p.open {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	ids := make([]string, 0, len(seqs))
	for _, seq := range seqs {
		ids = append(ids, p.open[seq].event.EventID)
	}
	return ids
}
