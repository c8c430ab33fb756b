package database_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hopcheck/hopcheck/sim/database"
)

// TestSenderTimeout: a stream whose client says nothing for a minute makes room for
// another one, and not before.
func TestSenderTimeout(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		a, b := db.Session(), db.Session()
		defer a.Close()
		defer b.Close()
		must(t, a.Stream(t.Context(), ""))
		time.Sleep(59 * time.Second)
		if err := b.Stream(t.Context(), ""); err == nil {
			t.Error("the slot was free after 59 s")
		}
		read(t, a, 1)
		time.Sleep(2 * time.Second)
		if err := b.Stream(t.Context(), ""); err == nil {
			t.Error("the slot was free although its client was heard")
		}
		time.Sleep(time.Minute)
		must(t, b.Stream(t.Context(), ""))
		if _, _, _, err := a.Next(t.Context()); err == nil {
			t.Error("the old stream goes on")
		}
	})
}

// TestLingers: after a connection broke its slot is active for a moment; a session
// that asks again itself closes its own stream first.
func TestLingers(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		a, b := db.Session(), db.Session()
		defer b.Close()
		must(t, a.Stream(t.Context(), ""))
		must(t, a.Stream(t.Context(), ""))
		a.Close()
		if err := b.Stream(t.Context(), ""); err == nil {
			t.Error("the slot was free at once")
		}
		time.Sleep(time.Second)
		must(t, b.Stream(t.Context(), ""))
		b.Drop(0)
		if _, _, _, err := b.Next(t.Context()); err == nil {
			t.Error("a stream goes on over a connection that broke")
		}
	})
}

// TestNextReturns: nobody waits in Next longer than it takes.
func TestNextReturns(t *testing.T) {
	type end struct {
		db     *database.DB
		s      *database.Session
		cancel context.CancelFunc
	}
	for _, x := range []struct {
		name string
		do   func(end)
	}{
		{"its session ends", func(e end) { e.s.Close() }},
		{"the server crashes", func(e end) { e.db.Crash() }},
		{"the slot goes", func(e end) { e.db.Failover(true) }},
		{"its context ends", func(e end) { e.cancel() }},
		{"its connection breaks", func(e end) { e.s.Drop(0) }},
	} {
		t.Run(x.name, func(t *testing.T) {
			in(t, database.Config{}, func(t *testing.T, db *database.DB) {
				s := db.Session()
				defer s.Close()
				must(t, s.Stream(t.Context(), ""))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() {
					_, _, _, err := s.Next(ctx)
					done <- err
				}()
				synctest.Wait()
				began := time.Now()
				x.do(end{db, s, cancel})
				if err := <-done; err == nil || time.Since(began) > 0 {
					t.Errorf("Next returned %v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// TestKeepalive: a silent stream says where it stands after 10 s, and one that has
// handed out what is not confirmed before it goes to sleep.
func TestKeepalive(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		must(t, s.Stream(t.Context(), ""))
		began := time.Now()
		keys, _ := read(t, s, 1)
		wants(t, "on a silent stream", keys, "-")
		wants(t, "it came after", time.Since(began), database.KeepaliveEvery)
		enroll(t, s, "a")
		began = time.Now()
		keys, _ = read(t, s, 2)
		wants(t, "after a change", keys, "a -")
		wants(t, "it came after", time.Since(began), time.Duration(0))
		keys, _ = read(t, s, 1)
		wants(t, "then", keys, "-")
		wants(t, "it came after", time.Since(began), database.KeepaliveEvery)
	})
}

// TestConfirmInside: what is confirmed inside a transaction leaves it whole.
func TestConfirmInside(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		enroll(t, s, "a", "b")
		for _, x := range []struct {
			n     int
			again string
		}{{1, "a"}, {2, "-"}} {
			must(t, s.Stream(t.Context(), ""))
			_, at := read(t, s, x.n)
			must(t, s.Confirm(t.Context(), at))
			must(t, s.Stream(t.Context(), ""))
			keys, _ := read(t, s, 1)
			wants(t, fmt.Sprint("after ", x.n, " of 2"), keys, x.again)
		}
	})
}

// TestRowLSN: of interleaved transactions, rows have another order than commits.
func TestRowLSN(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		first, second := begin(t, s, "a"), begin(t, s, "b")
		must(t, s.Commit(t.Context(), second))
		must(t, s.Commit(t.Context(), first))
		must(t, s.Stream(t.Context(), ""))
		_, b := read(t, s, 1)
		_, a := read(t, s, 1)
		if b >= a || s.RowLSN(b) <= s.RowLSN(a) || s.RowLSN(a) >= a {
			t.Errorf("b at %s, its row at %s; a at %s, its row at %s",
				b, s.RowLSN(b), a, s.RowLSN(a))
		}
		wants(t, "the row of a keepalive", s.RowLSN(b[:16]+"/00000000"), "")
	})
}

// TestPositions: what is no position is refused.
func TestPositions(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		for _, lsn := range []string{
			"x", "0/1", "000000000100000g/00000001", "0000000001000000", "000000000100000a/00000001",
		} {
			if err := s.Stream(t.Context(), lsn); err == nil {
				t.Errorf("%q is a position", lsn)
			}
		}
	})
}
