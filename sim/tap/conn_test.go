package tap

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestConnHolds: a write returns at once, a request reaches the broker when it passes,
// a reply reaches the process when it passes, and both in the order of their making.
func TestConnHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		before := time.Now()
		w.write(t, beat(1), beat(2))
		w.write(t, beat(3))
		if !time.Now().Equal(before) {
			t.Error("writing took time")
		}
		w.reached(t)
		first, second, third := w.gate.next(), w.gate.next(), w.gate.next()
		if first.Stream != third.Stream || second.Corr != 2 || first.Peer != "pipe" {
			t.Errorf("crossings %+v, %+v, %+v", first, second, third)
		}
		first.Settle(Verdict{})
		w.reached(t, beat(1))
		second.Settle(Verdict{})
		third.Settle(Verdict{})
		w.reached(t, beat(1), beat(2), beat(3))

		read := w.reading()
		w.reply(t, beaten(1))
		if err, ok := ended(t, read); ok {
			t.Errorf("a reply was read before it passed: %v", err)
		}
		answer := w.gate.next()
		if answer.Answers != first || answer.Corr != 1 || answer.Stream == first.Stream {
			t.Errorf("the reply is %+v", answer)
		}
		want := "reply Heartbeat done group=g member=abc"
		if diff := cmp.Diff(want, said(answer.Event)); diff != "" {
			t.Errorf("the reply (-want +got):\n%s", diff)
		}
		answer.Settle(Verdict{})
		if err, ok := ended(t, read); !ok || err != nil {
			t.Errorf("after it passed the reply was read: %v, %v", ok, err)
		}
		w.reply(t, beaten(2))
		w.reply(t, beaten(3))
		w.gate.pass()
		w.gate.pass()
		w.gets(t, beaten(2))
		w.gets(t, beaten(3))
		w.gate.idle(t)
	})
}

// TestConnReadsInPieces: a reader takes as much as it likes.
func TestConnReadsInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, passing())
		w.reply(t, beaten(1))
		w.reply(t, beaten(2))
		synctest.Wait()
		want := append(beaten(1), beaten(2)...)
		var got []byte
		for len(got) < len(want) {
			b := make([]byte, 3)
			n, err := w.conn.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b[:n]...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bytes (-want +got):\n%s", diff)
		}
	})
}

// TestConnPartialFrames splits three requests over two writes, at every boundary.
func TestConnPartialFrames(t *testing.T) {
	frames := [][]byte{beat(1), {0, 0, 0, 0}, beat(3)}
	all := append(append(beat(1), 0, 0, 0, 0), beat(3)...)
	synctest.Test(t, func(t *testing.T) {
		for i := range len(all) + 1 {
			w := connect(t, passing())
			w.write(t, all[:i])
			w.write(t, all[i:])
			w.reached(t, frames...)
			if err := w.conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestConnGarbage: what is no frame reaches the broker all the same, which knows what
// to do about it, and garbage of the broker is the end of the connection.
func TestConnGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		junk := []byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3}
		w.write(t, junk)
		if c := w.gate.pass(); said(c.Event) != "request frame err=undecodable" {
			t.Errorf("garbage is %s", said(c.Event))
		}
		go w.reply(t, []byte{0xff, 0xff, 0xff, 0xff})
		w.fails(t, io.EOF)
	})
}

// connVerdicts are what can become of a request (asked) and of its reply (answered).
var connVerdicts = []struct {
	name            string
	asked, answered *Verdict // nil: passes
	code            int16    // what the process reads; -1: nothing, the connection ends
	reaches         bool     // the request reaches the broker
}{
	{"pass", nil, nil, 0, true},
	{"lose request", &Verdict{Do: Lose}, nil, -1, false},
	{"answer request", &Verdict{Answer, "NOT_COORDINATOR"}, nil, kerr.NotCoordinator.Code, false},
	{"answer request, unknown", &Verdict{Answer, "NO_SUCH"}, nil, -1, false},
	{"answer request, lose that", &Verdict{Answer, "NOT_COORDINATOR"}, &Verdict{Do: Lose},
		-1, false},
	{"lose reply", nil, &Verdict{Do: Lose}, -1, true},
	{"answer reply", nil, &Verdict{Answer, "REQUEST_TIMED_OUT"}, kerr.RequestTimedOut.Code, true},
	{"answer reply, unknown", nil, &Verdict{Answer, "NO_SUCH"}, -1, true},
}

func TestConnVerdicts(t *testing.T) {
	for _, x := range connVerdicts {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := connect(t, newScript())
				w.write(t, beat(5))
				asked, answered := Verdict{}, Verdict{}
				if x.asked != nil {
					asked = *x.asked
				}
				if x.answered != nil {
					answered = *x.answered
				}
				c := w.gate.settle(asked)
				if x.reaches {
					w.reached(t, beat(5))
					w.reply(t, beaten(5))
				} else {
					w.reached(t)
				}
				if x.code >= 0 || x.answered != nil {
					w.gate.settle(answered)
				}
				w.gate.idle(t)
				if x.code < 0 {
					w.fails(t, io.EOF)
					if _, err := w.conn.Write(beat(6)); !errors.Is(err, net.ErrClosed) {
						t.Errorf("writing to a broken connection: %v", err)
					}
					if !w.cut() || !c.Gone() {
						t.Errorf("cut: %v, the request is gone: %v", w.cut(), c.Gone())
					}
					return
				}
				resp := kmsg.NewPtrHeartbeatResponse()
				resp.ErrorCode = x.code
				w.gets(t, replyFrame(resp, 4, 5))
				if w.cut() || c.Gone() {
					t.Error("the connection ended")
				}
			})
		})
	}
}

// TestConnDrop: what is dropped never happened, and nobody hears of it.
func TestConnDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		w.write(t, beat(1), beat(2))
		w.gate.settle(Verdict{Do: Drop})
		w.gate.pass()
		w.reached(t, beat(2))
		w.reply(t, beaten(2))
		read := w.reading()
		w.gate.settle(Verdict{Do: Drop})
		if err, ok := ended(t, read); ok {
			t.Errorf("a dropped reply was read: %v", err)
		}
		w.life.Sever()
		if err, ok := ended(t, read); !ok || !errors.Is(err, io.EOF) {
			t.Errorf("a reader of a dead life ended: %v, %v", ok, err)
		}
	})
}

// TestConnAcksZero: nobody answers, and what cannot be answered with an error breaks.
func TestConnAcksZero(t *testing.T) {
	to := toPartition{"a", idA, 0, []batch{plain(0, "x")}}
	frame := requestFrame(produce(t, 0, nil, to), 9, 4)
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		w.write(t, frame)
		w.gate.pass()
		w.reached(t, frame)
		w.write(t, beat(5))
		w.gate.pass()
		w.reply(t, beaten(5))
		w.gate.pass()
		w.gets(t, beaten(5))

		w.write(t, frame)
		w.gate.settle(Verdict{Answer, "NOT_ENOUGH_REPLICAS"})
		w.gate.idle(t)
		w.fails(t, io.EOF)
	})
}

// TestConnStrayReply: a reply that nobody asked for is delivered as it is.
func TestConnStrayReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		w.reply(t, beaten(77))
		c := w.gate.pass()
		if c.Answers != nil || said(c.Event) != "reply frame done err=undecodable" {
			t.Errorf("a stray reply is %s, of %v", said(c.Event), c.Answers)
		}
		w.gets(t, beaten(77))
	})
}

// TestConnHangUp: the process sees that the broker hung up once it got what was sent
// before, whatever becomes of that.
func TestConnHangUp(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := connect(t, newScript())
			w.reply(t, beaten(1))
			w.reply(t, beaten(2))
			if err := w.broker.Close(); err != nil {
				t.Error(err)
			}
			read := w.reading()
			if err, ok := ended(t, read); ok {
				t.Errorf("a reader was told before the held replies passed: %v", err)
			}
			w.gate.pass()
			if err, ok := ended(t, read); !ok || err != nil {
				t.Errorf("the first reply was read: %v, %v", ok, err)
			}
			if lost {
				w.gate.settle(Verdict{Do: Lose})
			} else {
				read = w.reading()
				if err, ok := ended(t, read); ok {
					t.Errorf("a reader was told before the last reply passed: %v", err)
				}
				w.gate.pass()
				if err, ok := ended(t, read); !ok || err != nil {
					t.Errorf("the second reply was read: %v, %v", ok, err)
				}
			}
			w.fails(t, io.EOF)
			w.fails(t, io.EOF)
		})
	}
}

// TestConnClose: what is under way goes with the connection, both ways.
func TestConnClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, newScript())
		w.write(t, beat(1), beat(2))
		w.gate.pass()
		w.reached(t, beat(1))
		w.reply(t, beaten(1))
		read := w.reading()
		if err := w.conn.Close(); err != nil {
			t.Error(err)
		}
		if err, ok := ended(t, read); !ok || !errors.Is(err, net.ErrClosed) {
			t.Errorf("a reader saw: %v, %v", ok, err)
		}
		request, reply := w.gate.next(), w.gate.next()
		if !request.Gone() || !reply.Gone() || !w.cut() {
			t.Errorf("gone: %v and %v, cut: %v", request.Gone(), reply.Gone(), w.cut())
		}
		request.Settle(Verdict{}) // a gate that did not look
		reply.Settle(Verdict{})
		w.reached(t, beat(1))
		w.fails(t, net.ErrClosed)
		if err := w.conn.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
		if len(w.life.conns) != 0 {
			t.Errorf("the life remembers %d connections", len(w.life.conns))
		}
	})
}
