package tap

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is a connection of a life, with the broker's end in the test's hand.
type wire struct {
	gate   *script
	life   *Life
	conn   net.Conn // the process's end
	broker net.Conn

	mu   sync.Mutex
	seen [][]byte // frames that reached the broker
	over bool     // the broker's end was closed
}

// connect dials through a life of its own. What reaches the broker is collected.
func connect(t *testing.T, gate *script) *wire {
	t.Helper()
	w := &wire{gate: gate, life: NewLife("p/0", 1, gate, newTestNames())}
	w.dial(t)
	return w
}

func (w *wire) dial(t *testing.T) {
	t.Helper()
	var ours net.Conn
	ours, w.broker = net.Pipe()
	dial := w.life.Dialer(func(context.Context, string, string) (net.Conn, error) {
		return ours, nil
	})
	conn, err := dial(t.Context(), "tcp", "broker:9092")
	if err != nil {
		t.Fatal(err)
	}
	w.conn = conn
	go w.collect(w.broker)
	t.Cleanup(func() {
		_ = conn.Close() // of a dead life this is an error
		_ = ours.Close()
	})
}

func (w *wire) collect(broker net.Conn) {
	for {
		frame, err := readFrame(broker)
		w.mu.Lock()
		if err != nil {
			w.over = true
			w.mu.Unlock()
			return
		}
		w.seen = append(w.seen, frame)
		w.mu.Unlock()
	}
}

// write hands frames over as one write.
func (w *wire) write(t *testing.T, frames ...[]byte) {
	t.Helper()
	b := bytes.Join(frames, nil)
	if n, err := w.conn.Write(b); n != len(b) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(b), err)
	}
}

// reply has the broker answer.
func (w *wire) reply(t *testing.T, frame []byte) {
	t.Helper()
	if _, err := w.broker.Write(frame); err != nil {
		t.Errorf("the broker answers: %v", err)
	}
}

// reached wants exactly these frames to have reached the broker by now.
func (w *wire) reached(t *testing.T, want ...[]byte) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !bytes.Equal(bytes.Join(w.seen, nil), bytes.Join(want, nil)) {
		t.Errorf("%d frames reached the broker, not %d: % x", len(w.seen), len(want), w.seen)
	}
}

// cut reports whether the broker's end was closed.
func (w *wire) cut() bool {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// fails wants the next read to end with an error.
func (w *wire) fails(t *testing.T, want error) {
	t.Helper()
	n, err := w.conn.Read(make([]byte, 10))
	if n != 0 || !errors.Is(err, want) {
		t.Errorf("read %d bytes, %v, not %v", n, err, want)
	}
}

// gets wants a frame from the next reads.
func (w *wire) gets(t *testing.T, want []byte) {
	t.Helper()
	got, err := readFrame(w.conn)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read % x, %v, not % x", got, err, want)
	}
}

// reading reads one frame apart; the channel gives what came of it.
func (w *wire) reading() <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := readFrame(w.conn)
		done <- err
	}()
	return done
}

// ended reports whether the read came to an end by now.
func ended(t *testing.T, read <-chan error) (error, bool) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-read:
		return err, true
	default:
		return nil, false
	}
}

// beat and beaten are a request and its reply, of 20 bytes and more.
func beat(corr int32) []byte {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID = "g", "abc"
	return requestFrame(req, 4, corr)
}

func beaten(corr int32) []byte { return replyFrame(kmsg.NewPtrHeartbeatResponse(), 4, corr) }
