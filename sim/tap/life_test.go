package tap

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// TestSever: a dead process loses all its connections at once, and the broker none.
func TestSever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newScript()
		w := connect(t, gate)
		other := &wire{gate: gate, life: w.life}
		other.dial(t)
		if !w.life.Alive() {
			t.Error("a new life is not alive")
		}
		w.write(t, beat(1))
		w.gate.pass()
		w.write(t, beat(2))
		other.write(t, beat(3))
		reads := []<-chan error{w.reading(), other.reading()}
		w.life.Sever()
		w.life.Sever() // a second time is none
		for _, read := range reads {
			if err, ok := ended(t, read); !ok || !errors.Is(err, io.EOF) {
				t.Errorf("a reader saw: %v, %v", ok, err)
			}
		}
		for range 2 {
			if c := gate.next(); !c.Gone() {
				t.Errorf("somebody waits for %s", said(c.Event))
			} else {
				c.Settle(Verdict{Do: Drop})
			}
		}
		w.reached(t, beat(1))
		other.reached(t)
		for _, c := range []*wire{w, other} {
			c.fails(t, io.EOF)
			if _, err := c.conn.Write(beat(4)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a dead process writes: %v", err)
			}
			if err := c.conn.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a dead process closes: %v", err)
			}
			if c.cut() {
				t.Error("the broker's end was closed: it would know that the process died")
			}
		}
		w.reply(t, beaten(1)) // the broker answers nobody
		gate.idle(t)
		if w.life.Alive() {
			t.Error("a severed life is alive")
		}
	})
}

// TestSeverAfterPass: what passed before the crash reaches the broker, even if nothing
// had time to be written before. Who writes may be anywhere in its loop by then.
func TestSeverAfterPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			w := connect(t, passing())
			w.write(t, beat(1))
			w.write(t, beat(2))
			w.life.Sever()
			w.reached(t, beat(1), beat(2))
		}
	})
}

func TestDialOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := NewLife("p/0", 1, newScript(), newTestNames())
		life.Sever()
		dial := life.Dialer(func(context.Context, string, string) (net.Conn, error) {
			t.Error("a dead process reached the network")
			return nil, io.EOF
		})
		start := time.Now()
		if _, err := dial(t.Context(), "tcp", "b:1"); !errors.Is(err, ErrDead) {
			t.Errorf("dialing: %v", err)
		}
		if took := time.Since(start); took != deadDial {
			t.Errorf("dialing failed after %s: a loop of it would hold time up", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start = time.Now()
		if _, err := dial(ctx, "tcp", "b:1"); !errors.Is(err, ErrDead) {
			t.Errorf("dialing with a short context: %v", err)
		}
		if took := time.Since(start); took != time.Millisecond {
			t.Errorf("it failed after %s, not with its context", took)
		}
	})
}

// TestDialFails: what the network says is what the process gets, and a life that ends
// while it dials gets no connection.
func TestDialFails(t *testing.T) {
	life := NewLife("p/0", 1, newScript(), newTestNames())
	refused := errors.New("refused")
	_, err := life.Dialer(func(context.Context, string, string) (net.Conn, error) {
		return nil, refused
	})(t.Context(), "tcp", "b:1")
	if !errors.Is(err, refused) {
		t.Errorf("dialing: %v", err)
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	_, err = life.Dialer(func(context.Context, string, string) (net.Conn, error) {
		life.Sever()
		return a, nil
	})(t.Context(), "tcp", "b:1")
	if !errors.Is(err, ErrDead) {
		t.Errorf("dialing while dying: %v", err)
	}
}

// TestLifeNotes: a dead life notes nothing.
func TestLifeNotes(t *testing.T) {
	gate := newScript()
	life := NewLife("p/0", 1, gate, newTestNames())
	life.Note(model.Event{Kind: model.Note, Op: "ask"})
	gate.noted(t, "note ask")
	life.Sever()
	life.Note(model.Event{Kind: model.Note, Op: "ask"})
	gate.noted(t)
}

// TestConnConcurrently is for the race detector: readers, writers, deadlines, a broker
// that echoes, and a life that ends in the middle.
func TestConnConcurrently(t *testing.T) {
	gate := passing()
	life := NewLife("p/0", 1, gate, newTestNames())
	var brokers sync.WaitGroup
	dial := life.Dialer(func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		brokers.Go(func() {
			defer theirs.Close()
			for {
				frame, err := readFrame(theirs)
				if err != nil {
					return
				}
				if _, err := theirs.Write(beaten(correlation(frame[4:]))); err != nil {
					return
				}
			}
		})
		t.Cleanup(func() { _ = ours.Close() })
		return ours, nil
	})
	var conns []net.Conn
	for range 4 {
		conn, err := dial(t.Context(), "tcp", "b:1")
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	var all sync.WaitGroup
	for _, conn := range conns {
		for range 2 {
			all.Go(func() {
				for i := range int32(100) {
					_, _ = conn.Write(beat(i)) // fails once the life is over
				}
			})
		}
		all.Go(func() {
			for range 100 {
				if _, err := readFrame(conn); err != nil {
					return
				}
			}
			life.Sever()
		})
		all.Go(func() {
			for i := range 100 {
				_ = conn.SetDeadline(time.Now().Add(time.Hour)) // never fails
				if i == 99 && conn.LocalAddr() == nil {
					t.Error("no address")
				}
			}
		})
	}
	all.Wait()
	if life.Alive() {
		t.Error("nobody got 100 replies")
	}
}

// TestRename numbers members and producers by their first appearance in the history.
func TestRename(t *testing.T) {
	n := newTestNames()
	for _, x := range []struct {
		member           string
		producer         int64
		wantMember       string
		wantProducer     int64
		record, wantedAs int64
	}{
		{"zz", 700, "m1", 1, 0, 0},
		{"", 0, "", 0, 800, 2},
		{"aa", -1, "m2", 0, 700, 1},
		{"zz", 1, "m1", 3, 800, 2}, // a broker's producer 0
	} {
		e := model.Event{Member: x.member, Producer: x.producer, Parts: []model.Part{{
			Records: []model.Record{{Producer: x.record}},
		}}}
		n.Rename(&e)
		r := e.Parts[0].Records[0].Producer
		if e.Member != x.wantMember || e.Producer != x.wantProducer || r != x.wantedAs {
			t.Errorf("%+v: got %q, %d, %d", x, e.Member, e.Producer, r)
		}
	}
}

// TestRegisterTwice: a second opinion on an API is a mistake.
func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an API was registered twice")
		}
	}()
	register(0, api{})
}
