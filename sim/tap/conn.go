package tap

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is a connection to a broker whose frames cross the boundary of a [Life]
// one by one. Writing hands frames over and does not wait until they pass;
// reading waits until a reply was let through. It is safe for concurrent use.
//
// Closing it takes along what is still under way, in both directions, as a reset
// connection would.
type Conn struct {
	life     *Life
	inner    net.Conn
	peer     string // the broker's address
	requests uint64 // stream of the frames to the broker
	replies  uint64 // stream of the frames from the broker

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when what a reader waits for changes
	partial []byte        // the beginning of a request frame
	asked   map[int32]sent
	out     [][]byte // frames that passed, for the broker
	in      []byte   // frames that passed, for the process
	held    int      // replies that wait at the gate
	hungUp  bool     // the broker closed its side
	closed  bool
	orphan  bool  // its process is dead: the broker's side stays open
	err     error // what the process sees once in is empty

	outReady chan struct{}
	done     chan struct{}
	rd, wd   *deadline
}

func newConn(l *Life, inner net.Conn) *Conn {
	return &Conn{
		life: l, inner: inner, peer: address(inner), requests: l.stream(), replies: l.stream(),
		changed:  make(chan struct{}),
		asked:    make(map[int32]sent),
		outReady: make(chan struct{}, 1),
		done:     make(chan struct{}),
		rd:       newDeadline(), wd: newDeadline(),
	}
}

// address returns where a connection leads; test doubles may lead nowhere.
func address(c net.Conn) string {
	if c == nil || c.RemoteAddr() == nil {
		return ""
	}
	return c.RemoteAddr().String()
}

func (c *Conn) start() {
	go c.pumpOut()
	go c.pumpIn()
}

// Write hands the frames in b to the gate. A frame may span several writes.
func (c *Conn) Write(b []byte) (int, error) {
	if c.wd.expired() {
		return 0, os.ErrDeadlineExceeded
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	c.partial = append(c.partial, b...)
	frames, rest := cut(c.partial)
	c.partial = rest
	crossings := make([]*Crossing, len(frames))
	for i, f := range frames {
		crossings[i] = c.request(f)
	}
	c.mu.Unlock()
	for _, x := range crossings {
		c.life.gate.Submit(x)
	}
	return len(b), nil
}

// request decodes a frame of the process; the caller holds mu.
func (c *Conn) request(frame []byte) *Crossing {
	s, e := c.life.names.decodeRequest(frame)
	x := &Crossing{
		Life: c.life, Event: e, Stream: c.requests, Corr: s.corr, gone: c.isClosed,
		Peer: c.peer,
		settle: func(v Verdict) {
			switch v.Do {
			case Pass:
				c.forward(frame)
			case Answer:
				c.answerInstead(s, v.Code)
			case Lose:
				c.breakWith(io.EOF)
			case Drop:
			}
		},
	}
	s.crossing = x
	if s.replies {
		c.asked[s.corr] = s
	}
	return x
}

func (c *Conn) forward(frame []byte) {
	c.mu.Lock()
	c.out = append(c.out, frame)
	c.mu.Unlock()
	select {
	case c.outReady <- struct{}{}:
	default:
	}
}

// answerInstead makes up the reply of a broker that refused the request. It
// crosses the boundary like any other reply.
func (c *Conn) answerInstead(s sent, code string) {
	reply := s.refuse(code)
	if reply == nil || !s.replies {
		// No such error for this API, or nobody who reads replies: the next best bad
		// luck, and what brokers do about a produce request with acks=0.
		c.breakWith(io.EOF)
		return
	}
	c.arrive(reply)
}

// pumpOut writes the frames that passed to the broker. It has a goroutine of its
// own since a broker that works on an earlier request does not read. What passed
// before the process died still goes out.
func (c *Conn) pumpOut() {
	for done := false; ; {
		c.mu.Lock()
		frames := c.out
		c.out = nil
		c.mu.Unlock()
		for _, f := range frames {
			if _, err := c.inner.Write(f); err != nil {
				return
			}
		}
		switch {
		case len(frames) > 0:
			continue
		case done:
			return
		}
		select {
		case <-c.outReady:
		case <-c.done:
			done = true // and look once more: both may be ready, and select draws
		}
	}
}

// pumpIn reads the broker's frames and hands them to the gate.
func (c *Conn) pumpIn() {
	for {
		frame, err := readFrame(c.inner)
		if err != nil {
			c.mu.Lock()
			c.hungUp = true
			if c.held == 0 && c.err == nil {
				c.err = io.EOF
			}
			c.wake()
			c.mu.Unlock()
			return
		}
		c.arrive(frame)
	}
}

// arrive hands a frame of the broker to the gate.
func (c *Conn) arrive(frame []byte) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	corr := correlation(frame)
	s := c.asked[corr]
	delete(c.asked, corr)
	c.held++
	c.mu.Unlock()

	e := c.life.names.decodeReply(s, frame)
	c.life.gate.Submit(&Crossing{
		Life: c.life, Event: e, Stream: c.replies, Corr: corr, gone: c.isClosed,
		Peer:    c.peer,
		Answers: s.crossing,
		settle: func(v Verdict) {
			switch v.Do {
			case Pass:
				c.deliver(frame)
			case Answer:
				if spoiled := s.spoil(frame, v.Code); spoiled != nil {
					c.deliver(spoiled)
				} else {
					c.breakWith(io.EOF)
				}
			case Lose:
				c.breakWith(io.EOF)
			case Drop:
			}
		},
	})
}

func (c *Conn) deliver(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, frame...)
	c.held--
	if c.held == 0 && c.hungUp && c.err == nil {
		c.err = io.EOF
	}
	c.wake()
}

// Read returns bytes of the replies that passed.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		if len(c.in) > 0 && !c.closed {
			n := copy(b, c.in)
			c.in = c.in[n:]
			c.mu.Unlock()
			return n, nil
		}
		err, changed := c.err, c.changed
		c.mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-changed:
		case <-c.rd.wait():
			select {
			case <-changed: // at the same instant: what is there counts
			default:
				return 0, os.ErrDeadlineExceeded
			}
		}
	}
}

// breakWith ends the connection as the process sees it: what waits is gone, and
// reading gives err.
func (c *Conn) breakWith(err error) {
	c.shut(err)
	_ = c.inner.Close() // it is gone for us, whatever it says
	c.life.forget(c)
}

// abort is how a dead process's connection ends: for the process at once, for the
// broker not at all, as when a machine loses power. kfake relies on it: it never
// expires a member whose JoinGroup it cannot answer (docs/decisions/0004).
func (c *Conn) abort() {
	c.mu.Lock()
	c.orphan = true
	c.mu.Unlock()
	c.shut(io.EOF)
}

// Close closes both sides, unless the process is dead.
func (c *Conn) Close() error {
	c.mu.Lock()
	orphan := c.orphan
	c.mu.Unlock()
	if orphan {
		return net.ErrClosed
	}
	c.breakWith(net.ErrClosed)
	return nil
}

func (c *Conn) shut(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.err = err
	c.wake()
	close(c.done)
}

// wake tells readers to look again; the caller holds mu.
func (c *Conn) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// isClosed reports whether the connection is gone, so that the gate can forget
// what it still holds of it.
func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// LocalAddr returns the address of the inner connection.
func (c *Conn) LocalAddr() net.Addr { return c.inner.LocalAddr() }

// RemoteAddr returns the address of the broker.
func (c *Conn) RemoteAddr() net.Addr { return c.inner.RemoteAddr() }

// SetDeadline sets both deadlines; the zero time removes them.
func (c *Conn) SetDeadline(t time.Time) error {
	c.rd.set(t)
	c.wd.set(t)
	return nil
}

// SetReadDeadline makes reads that still wait at t fail with
// os.ErrDeadlineExceeded.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.rd.set(t)
	return nil
}

// SetWriteDeadline makes writes after t fail; a write never waits.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.wd.set(t)
	return nil
}
