package tap

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadDeadline moves the deadline of a read that waits.
func TestReadDeadline(t *testing.T) {
	const never = 0
	for _, x := range []struct {
		name  string
		first time.Duration // from the start; 0: none
		moved time.Duration // from the start, set after one second; 0: removed, -1: not moved
		ends  time.Duration // from the start; 0: only by the reply after a minute
	}{
		{"fires", 5 * time.Second, -1, 5 * time.Second},
		{"set while waiting", 0, 5 * time.Second, 5 * time.Second},
		{"moved earlier", time.Hour, 5 * time.Second, 5 * time.Second},
		{"moved later", 5 * time.Second, 50 * time.Second, 50 * time.Second},
		{"moved beyond the reply", 5 * time.Second, time.Hour, never},
		{"removed", 5 * time.Second, 0, never},
		{"now, as a cancelled context does", time.Hour, time.Second, time.Second},
		{"in the past", 0, time.Nanosecond, time.Second},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := connect(t, passing())
				set := func(d time.Duration) {
					var at time.Time
					if d != 0 {
						at = start.Add(d)
					}
					if err := w.conn.SetReadDeadline(at); err != nil {
						t.Error(err)
					}
				}
				set(x.first)
				read := w.reading()
				time.AfterFunc(time.Second, func() {
					if x.moved >= 0 {
						set(x.moved)
					}
				})
				time.AfterFunc(time.Minute, func() { w.reply(t, beaten(1)) })
				err := <-read
				took := time.Since(start)
				if x.ends == never && (err != nil || took != time.Minute) ||
					x.ends != never && (!errors.Is(err, os.ErrDeadlineExceeded) || took != x.ends) {
					t.Errorf("the read ended after %s: %v", took, err)
				}
				time.Sleep(time.Minute - took) // the reply comes in any case
				set(0)
				if x.ends != never {
					w.gets(t, beaten(1))
				}
			})
		})
	}
}

// TestDeadlineError: clients ask a net.Error whether it was a time-out.
func TestDeadlineError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := connect(t, passing())
		if err := w.conn.SetDeadline(time.Now()); err != nil {
			t.Error(err)
		}
		_, err := w.conn.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("a read past its deadline: %v", err)
		}
		if _, err := w.conn.Write(beat(1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a write past its deadline: %v", err)
		}
		if err := w.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
		w.write(t, beat(1))
		time.Sleep(2 * time.Second)
		if _, err := w.conn.Write(beat(2)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a write past its second deadline: %v", err)
		}
		w.reached(t, beat(1))
	})
}

// TestDeadlineMeetsReply: what is there counts, even at the instant of the deadline. A
// reader on its way into its select may find both ready; a draw would make runs differ.
func TestDeadlineMeetsReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			w := connect(t, newScript())
			w.reply(t, beaten(1))
			c := w.gate.next()
			read := w.reading()
			c.Settle(Verdict{})
			if err := w.conn.SetReadDeadline(time.Now()); err != nil {
				t.Error(err)
			}
			if err := <-read; err != nil {
				t.Fatalf("the reader did not see the reply: %v", err)
			}
		}
	})
}

// TestDeadlineRace moves a deadline while it fires.
func TestDeadlineRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeadline()
		for i := range 200 {
			d.set(time.Now().Add(time.Duration(i%3) * time.Microsecond))
			go d.set(time.Now().Add(time.Duration(i%2) * time.Microsecond))
			if i%5 == 0 {
				time.Sleep(time.Microsecond)
			}
			d.set(time.Time{})
		}
		synctest.Wait()
		d.set(time.Time{})
		if d.expired() {
			t.Error("a deadline that was removed is over")
		}
	})
}
