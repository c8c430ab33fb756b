package tap

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
)

// ErrDead is what every dial and every store call of a life returns once that
// life is over: the process is gone, whatever its goroutines still try.
var ErrDead = errors.New("tap: the process is dead")

// Life is one incarnation of a process, as its taps know it. It is safe for
// concurrent use.
type Life struct {
	// Proc is the name of the process and replica, "landing/0".
	Proc string
	// Number counts the lives of Proc from 1.
	Number int
	// Owner is what the owner of the gate keeps of the life. It is set before the
	// life is used, and the tap does not look at it.
	Owner any

	gate  Gate
	names *Names

	mu      sync.Mutex
	dead    bool
	streams uint64
	conns   []*Conn
	clients []*kgo.Client
	noAcks  bool // one of the clients produces with acks=0
	late    int  // calls since the life was severed
}

// NewLife returns a life whose crossings go to gate. Lives of one run share
// names.
func NewLife(proc string, number int, gate Gate, names *Names) *Life {
	return &Life{Proc: proc, Number: number, gate: gate, names: names}
}

// Alive reports whether the life has not been severed yet.
func (l *Life) Alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dead
}

// Note hands e to the gate as something that this life saw. A dead life notes
// nothing.
func (l *Life) Note(e model.Event) {
	if l.Alive() {
		l.gate.Note(l, e)
	}
}

// Sever ends the life for everyone else: its connections break, and later dials
// and calls fail with [ErrDead] and have no effect. It does not stop the
// goroutines of the process; [Life.Clients] are there to be closed.
func (l *Life) Sever() {
	l.mu.Lock()
	l.dead = true
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for _, c := range conns {
		c.abort()
	}
}

// Break breaks the connections of the life, as a broker does that goes down. What was
// under way on them is lost; the process may dial again.
func (l *Life) Break() {
	l.mu.Lock()
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for _, c := range conns {
		c.breakWith(io.EOF)
	}
}

// Clients returns the franz-go clients that the life made, as [Hook] saw them.
func (l *Life) Clients() []*kgo.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*kgo.Client(nil), l.clients...)
}

func (l *Life) producesBlindly() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noAcks
}

// Dialer returns a dial function for kgo.Dialer: every connection that it makes
// with dial crosses the boundary of this life. It returns [ErrDead] once the life
// is severed, and what dial returns.
func (l *Life) Dialer(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !l.Alive() {
			// Not at once: a client that dials again and again without a pause
			// would hold up virtual time.
			select {
			case <-ctx.Done():
			case <-time.After(deadDial):
			}
			return nil, ErrDead
		}
		inner, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c := newConn(l, inner)
		if !l.adopt(c) {
			c.abort()
			return nil, ErrDead
		}
		c.start()
		return c, nil
	}
}

// deadDial is how long a dial of a dead process takes to fail.
const deadDial = time.Second

// DialFunc is what kgo.Dialer takes.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func (l *Life) adopt(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	l.conns = append(l.conns, c)
	return true
}

func (l *Life) forget(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, o := range l.conns {
		if o == c {
			l.conns = append(l.conns[:i], l.conns[i+1:]...)
			return
		}
	}
}

// stream numbers the streams of a life in the order in which they are made.
func (l *Life) stream() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams++
	return l.streams
}

// calledDead counts the calls of a life that is over.
func (l *Life) calledDead() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		l.late++
	}
	return l.late
}
