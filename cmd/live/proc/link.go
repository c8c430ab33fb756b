package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Message is a line between a life and its supervisor.
type Message struct {
	Op      string        `json:"op"`
	Fault   string        `json:"fault,omitempty"`
	For     time.Duration `json:"for,omitempty"`
	Peer    string        `json:"peer,omitempty"`
	Code    string        `json:"code,omitempty"`
	Ask     *worlds.Ask   `json:"ask,omitempty"`
	ID      string        `json:"id,omitempty"` // of an answered ask
	Outcome model.Outcome `json:"outcome,omitempty"`
}

// The words of messages: of a life, and of its supervisor.
const (
	SaysFired    = "fired"
	WantsPause   = "pause"
	WantsOutage  = "outage"
	WantsDB      = "database"
	SaysAnswered = "answered"

	SaysDone   = "done" // to a want
	SaysHeal   = "heal"
	SaysAsk    = "ask"
	SaysNoMore = "no-more-asks"
)

// Wire is one end of the connection between a life and its supervisor. It is safe for
// concurrent use; one goroutine reads.
type Wire struct {
	conn net.Conn
	in   *json.Decoder
	mu   sync.Mutex
	out  *json.Encoder
}

// NewWire returns the end that is open as f, which it takes over.
func NewWire(f *os.File) (*Wire, error) {
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("opening the connection to the supervisor: %w", err)
	}
	return &Wire{conn: conn, in: json.NewDecoder(conn), out: json.NewEncoder(conn)}, nil
}

// Send sends a message. One to an end that is gone is lost.
func (w *Wire) Send(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(m) // the reader sees that the other end is gone
}

// Receive returns the next message, and io.EOF once the other end is gone.
func (w *Wire) Receive() (Message, error) {
	var m Message
	if err := w.in.Decode(&m); err != nil {
		return m, io.EOF
	}
	return m, nil
}

// Close closes this end.
func (w *Wire) Close() { _ = w.conn.Close() }

// link is a life's side: a [Supervisor] and the inbox of its process.
type link struct {
	wire *Wire
	done chan struct{} // one for each want that is done

	mu     sync.Mutex
	asks   []worlds.Ask
	noMore bool
	woken  chan struct{}
	life   *tap.Life
}

func newLink(w *Wire) *link {
	return &link{wire: w, done: make(chan struct{}, 1), woken: make(chan struct{}, 1)}
}

// read hears the supervisor until it is gone, and then calls alone.
func (l *link) read(heal, alone func()) {
	for {
		m, err := l.wire.Receive()
		if err != nil {
			alone()
			return
		}
		switch m.Op {
		case SaysDone:
			l.done <- struct{}{}
		case SaysHeal:
			heal()
		case SaysAsk, SaysNoMore:
			l.mu.Lock()
			if m.Ask != nil {
				l.asks = append(l.asks, *m.Ask)
			}
			l.noMore = l.noMore || m.Op == SaysNoMore
			l.mu.Unlock()
			select {
			case l.woken <- struct{}{}:
			default:
			}
		}
	}
}

func (l *link) want(m Message) {
	l.wire.Send(m)
	<-l.done
}

// Fired implements [Supervisor].
func (l *link) Fired(f schedule.Fault) { l.wire.Send(Message{Op: SaysFired, Fault: f.String()}) }

// Pause implements [Supervisor].
func (l *link) Pause(d time.Duration) { l.want(Message{Op: WantsPause, For: d}) }

// Outage implements [Supervisor].
func (l *link) Outage(peer string, d time.Duration) {
	l.want(Message{Op: WantsOutage, Peer: peer, For: d})
}

// Database implements [Supervisor].
func (l *link) Database(code string) { l.want(Message{Op: WantsDB, Code: code}) }

// Next implements [worlds.Inbox].
func (l *link) Next(ctx context.Context) (worlds.Ask, bool) {
	for ctx.Err() == nil {
		l.mu.Lock()
		if len(l.asks) > 0 {
			a := l.asks[0]
			l.asks = l.asks[1:]
			l.mu.Unlock()
			l.note("ask", a, model.NoOutcome)
			return a, true
		}
		over := l.noMore
		l.mu.Unlock()
		if over {
			break
		}
		select {
		case <-l.woken:
		case <-ctx.Done():
		}
	}
	return worlds.Ask{}, false
}

// Answer implements [worlds.Inbox].
func (l *link) Answer(a worlds.Ask, o model.Outcome) {
	l.note("answer", a, o)
	l.wire.Send(Message{Op: SaysAnswered, ID: a.ID, Outcome: o})
}

func (l *link) note(op string, a worlds.Ask, o model.Outcome) {
	part := model.PartOf("", -1)
	part.Records = []model.Record{{
		Offset: -1, ID: a.ID, Key: string(a.Key), Digest: tap.Digest(a.Value),
	}}
	l.life.Note(model.Event{Kind: model.Note, Op: op, Outcome: o, Parts: []model.Part{part}})
}
