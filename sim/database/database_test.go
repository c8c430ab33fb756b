package database_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hopcheck/hopcheck/sim/database"
)

// What every database must do is in sim/contract; here is what this one does besides.

// in runs a test with a database in a bubble.
func in(t *testing.T, c database.Config, test func(*testing.T, *database.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, database.New(c)) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin opens a transaction that enrolls l in each course.
func begin(t *testing.T, s *database.Session, courses ...string) uint64 {
	t.Helper()
	tx, err := s.Begin(t.Context())
	must(t, err)
	for _, course := range courses {
		must(t, s.Enroll(t.Context(), tx, "l", course, "enrolled"))
	}
	return tx
}

func enroll(t *testing.T, s *database.Session, courses ...string) {
	t.Helper()
	must(t, s.Commit(t.Context(), begin(t, s, courses...)))
}

func publish(t *testing.T, s *database.Session, tx uint64, course string) {
	t.Helper()
	must(t, s.Publish(t.Context(), tx, "l", course, "enrolled"))
}

// read reads n things of the stream, "key" or "-" for a keepalive, and returns the
// last position.
func read(t *testing.T, s *database.Session, n int) (keys, last string) {
	t.Helper()
	var got []string
	for range n {
		lsn, key, _, err := s.Next(t.Context())
		must(t, err)
		if key == "" {
			key = "-"
		}
		got, last = append(got, strings.TrimPrefix(key, "l/")), lsn
	}
	return strings.Join(got, " "), last
}

func wants(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// TestCrashGoesBack: the confirmed position goes back to what the last checkpoint
// wrote, no further, and changes come again from there.
func TestCrashGoesBack(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		enroll(t, s, "a")
		enroll(t, s, "b")
		must(t, s.Stream(t.Context(), ""))
		_, at := read(t, s, 1)
		must(t, s.Confirm(t.Context(), at))
		saved := db.Slot().Confirmed
		db.Checkpoint()
		_, at = read(t, s, 1)
		must(t, s.Confirm(t.Context(), at))
		if db.Slot().Confirmed <= saved {
			t.Error("the second confirmation moved nothing")
		}
		db.Crash()
		wants(t, "confirmed after the crash", db.Slot().Confirmed, saved)
		must(t, s.Stream(t.Context(), ""))
		keys, _ := read(t, s, 1)
		wants(t, "what comes again", keys, "b")
		db.Crash()
		wants(t, "confirmed after a second crash", db.Slot().Confirmed, saved)
	})
}

// TestCheckpointsByItself: they come every 5 minutes, though nobody asks.
func TestCheckpointsByItself(t *testing.T) {
	for _, x := range []struct {
		wait  time.Duration
		again string
	}{{4 * time.Minute, "a"}, {6 * time.Minute, "-"}} {
		in(t, database.Config{}, func(t *testing.T, db *database.DB) {
			s := db.Session()
			defer s.Close()
			enroll(t, s, "a")
			must(t, s.Stream(t.Context(), ""))
			_, at := read(t, s, 1)
			must(t, s.Confirm(t.Context(), at))
			time.Sleep(x.wait)
			db.Crash()
			must(t, s.Stream(t.Context(), ""))
			keys, _ := read(t, s, 1)
			wants(t, fmt.Sprint("after ", x.wait), keys, x.again)
		})
	}
}

// TestRestartLags: after a full drain the slot still retains log, until it has heard of
// a snapshot and its client has confirmed past that; a transaction that is open keeps
// it at its beginning.
func TestRestartLags(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		must(t, s.Stream(t.Context(), ""))
		drain := func() {
			t.Helper()
			for db.Slot().Lag > 0 {
				_, at := read(t, s, 1)
				must(t, s.Confirm(t.Context(), at))
			}
		}
		enroll(t, s, "a")
		drain()
		if got := db.Slot(); got.Retained < 256 {
			t.Errorf("after the drain: %+v", got)
		}
		open := begin(t, s, "b")
		time.Sleep(20 * time.Second) // a snapshot sees it
		drain()
		if got := db.Slot(); got.Retained < 256 || got.Retained > 512 {
			t.Errorf("with an open transaction: %+v", got)
		}
		must(t, s.Commit(t.Context(), open))
		time.Sleep(20 * time.Second)
		drain()
		if got := db.Slot(); got.Retained > 64 {
			t.Errorf("once it is over: %+v", got)
		}
		end := db.Slot()
		time.Sleep(time.Hour)
		wants(t, "after an hour of nothing", db.Slot(), end)
	})
}

// TestRestartSaves: when decoding may restart later, the slot is written to disk, and a
// crash goes back to no earlier than that.
func TestRestartSaves(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		enroll(t, s, "a")
		time.Sleep(20 * time.Second)
		must(t, s.Stream(t.Context(), ""))
		_, at := read(t, s, 2)
		must(t, s.Confirm(t.Context(), at))
		before := db.Slot().Confirmed
		db.Crash()
		wants(t, "confirmed after the crash", db.Slot().Confirmed, before)
	})
}

// TestUnreserved: a slot that retains too much has until the next checkpoint to catch
// up.
func TestUnreserved(t *testing.T) {
	for _, catchesUp := range []bool{true, false} {
		in(t, database.Config{Keep: 10000}, func(t *testing.T, db *database.DB) {
			s := db.Session()
			defer s.Close()
			must(t, s.Stream(t.Context(), ""))
			wants(t, "at first", db.Slot().State, "reserved")
			db.Write(9000)
			wants(t, "below the limit", db.Slot().State, "reserved")
			db.Write(2000)
			wants(t, "above it", db.Slot().State, "unreserved")
			time.Sleep(20 * time.Second)
			if catchesUp {
				_, at := read(t, s, 1)
				must(t, s.Confirm(t.Context(), at))
				wants(t, "caught up", db.Slot().State, "reserved")
				db.Checkpoint()
				wants(t, "after the checkpoint", db.Slot().State, "reserved")
				return
			}
			db.Checkpoint()
			wants(t, "after the checkpoint", db.Slot().State, "lost")
			_, _, _, err := s.Next(t.Context())
			var lost interface{ SlotLost() bool }
			if !errors.As(err, &lost) || !lost.SlotLost() {
				t.Errorf("the stream ends with %v", err)
			}
		})
	}
}

// TestBackground: others write by the second, however often anybody looks, so a day
// without a reader loses the slot.
func TestBackground(t *testing.T) {
	var figures []database.SlotInfo
	for _, looks := range []int{1, 7000} {
		in(t, database.Config{Background: 1000, Keep: 64 << 20}, func(t *testing.T, db *database.DB) {
			const half = 12 * time.Hour
			began := time.Now()
			for range looks - 1 {
				time.Sleep(half / time.Duration(looks))
				db.Slot()
			}
			time.Sleep(half - time.Since(began))
			figures = append(figures, db.Slot())
			if got := db.Slot().Retained; got < 12*3600*1000 || got > 12*3600*1100 {
				t.Errorf("after half a day it retains %d bytes", got)
			}
			time.Sleep(half)
			wants(t, "after a day", db.Slot().State, "lost")
		})
	}
	wants(t, "with many looks", figures[1], figures[0])
}

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
	for _, x := range []struct {
		name string
		do   func(*database.DB, *database.Session, context.CancelFunc)
	}{
		{"its session ends", func(_ *database.DB, s *database.Session, _ context.CancelFunc) { s.Close() }},
		{"the server crashes", func(db *database.DB, _ *database.Session, _ context.CancelFunc) { db.Crash() }},
		{"the slot goes", func(db *database.DB, _ *database.Session, _ context.CancelFunc) { db.Failover(true) }},
		{"its context ends", func(_ *database.DB, _ *database.Session, c context.CancelFunc) { c() }},
		{"its connection breaks", func(_ *database.DB, s *database.Session, _ context.CancelFunc) { s.Drop(0) }},
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
				x.do(db, s, cancel)
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

// TestClaimRows: with locked rows alone in view, two pollers get one key.
func TestClaimRows(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		a, b := db.Session(), db.Session()
		defer a.Close()
		defer b.Close()
		for range 2 {
			tx := begin(t, a, "a")
			publish(t, a, tx, "a")
			must(t, a.Commit(t.Context(), tx))
		}
		one, _, first, err := a.ClaimRows(t.Context(), 1)
		must(t, err)
		two, _, second, err := b.ClaimRows(t.Context(), 1)
		must(t, err)
		none, _, _, err := b.Claim(t.Context(), 1)
		must(t, err)
		if one == 0 || two == 0 || none != 0 || string(first[0]) >= string(second[0]) {
			t.Errorf("the claims %d of %s, %d of %s, and %d", one, first, two, second, none)
		}
	})
}

// TestClaimSkipsEarlier: a row that became visible late has a smaller id than one of
// its key that is claimed, and must wait for it all the same.
func TestClaimSkipsEarlier(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		early, late := begin(t, s), begin(t, s)
		publish(t, s, early, "a")
		publish(t, s, late, "a")
		must(t, s.Commit(t.Context(), late))
		if claim, _, _, err := s.Claim(t.Context(), 1); err != nil || claim == 0 {
			t.Fatalf("claim %d, %v", claim, err)
		}
		must(t, s.Commit(t.Context(), early))
		if claim, keys, _, err := s.Claim(t.Context(), 1); err != nil || claim != 0 {
			t.Errorf("a second claim has %v, %v", keys, err)
		}
	})
}

// TestSequence: a crash skips ids, a rollback uses them up, none comes twice.
func TestSequence(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		add := func() uint64 {
			tx := begin(t, s)
			publish(t, s, tx, "a")
			return tx
		}
		must(t, s.Commit(t.Context(), add()))
		must(t, s.Rollback(t.Context(), add()))
		must(t, s.Commit(t.Context(), add()))
		db.Crash()
		must(t, s.Commit(t.Context(), add()))
		var ids []int64
		for _, r := range db.Outbox() {
			ids = append(ids, r.ID)
		}
		if !slices.Equal(ids, []int64{1, 3, 34}) {
			t.Errorf("the ids are %d", ids)
		}
	})
}

// TestLocksInLine: several transactions that wait for one row get it in the order in
// which they asked, and what they write has that order though they wake together.
func TestLocksInLine(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		first := begin(t, s, "a", "b", "c")
		var waiting []uint64
		for _, course := range []string{"c", "a", "b", "a"} {
			tx := begin(t, s)
			waiting = append(waiting, tx)
			go func() {
				if err := s.Enroll(t.Context(), tx, "l", course, "dropped"); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		must(t, s.Commit(t.Context(), first))
		synctest.Wait()
		for _, tx := range waiting {
			must(t, s.Commit(t.Context(), tx))
		}
		must(t, s.Stream(t.Context(), ""))
		keys, _ := read(t, s, 7)
		wants(t, "the commits", keys, "a b c c a b a")
		var rows []string
		for _, r := range db.Enrollments() {
			rows = append(rows, r.Course+" "+r.Op)
		}
		wants(t, "the rows", fmt.Sprint(rows), "[a dropped b dropped c dropped]")
	})
}

// TestEnrollReturns: nobody waits for a row in a transaction that is gone.
func TestEnrollReturns(t *testing.T) {
	for _, x := range []struct {
		name string
		do   func(db *database.DB, s *database.Session, tx uint64)
	}{
		{"it is rolled back", func(_ *database.DB, s *database.Session, tx uint64) { s.Rollback(context.Background(), tx) }},
		{"its connection breaks", func(_ *database.DB, s *database.Session, tx uint64) { s.Drop(tx) }},
		{"its session ends", func(_ *database.DB, s *database.Session, _ uint64) { s.Close() }},
		{"the server crashes", func(db *database.DB, _ *database.Session, _ uint64) { db.Crash() }},
	} {
		t.Run(x.name, func(t *testing.T) {
			in(t, database.Config{}, func(t *testing.T, db *database.DB) {
				a, b := db.Session(), db.Session()
				defer a.Close()
				defer b.Close()
				first, second := begin(t, a, "a"), begin(t, b, "b")
				done := make(chan error, 1)
				go func() { done <- b.Enroll(t.Context(), second, "l", "a", "dropped") }()
				synctest.Wait()
				x.do(db, b, second)
				if err := <-done; err == nil {
					t.Error("it was done all the same")
				}
				if err := b.Commit(t.Context(), second); err == nil {
					t.Error("its transaction was committed")
				}
				a.Commit(t.Context(), first) // after a crash it is gone too
				enroll(t, a, "a", "b")
			})
		})
	}
}

// TestDropReleases: the rows of a claim whose connection broke are free.
func TestDropReleases(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		tx := begin(t, s)
		publish(t, s, tx, "a")
		must(t, s.Commit(t.Context(), tx))
		claim, _, _, err := s.Claim(t.Context(), 1)
		must(t, err)
		s.Drop(claim)
		again, _, _, err := s.Claim(t.Context(), 1)
		must(t, err)
		if again == 0 || s.Mark(t.Context(), claim) == nil {
			t.Errorf("claim %d; the broken one %d can be marked", again, claim)
		}
	})
}

// TestDeadlockOfThree: the one that closes the circle is refused, the others go on.
func TestDeadlockOfThree(t *testing.T) {
	in(t, database.Config{}, func(t *testing.T, db *database.DB) {
		s := db.Session()
		defer s.Close()
		txs := []uint64{begin(t, s, "a"), begin(t, s, "b"), begin(t, s, "c")}
		done := make(chan error, 2)
		for i, course := range []string{"b", "c"} {
			go func() {
				err := s.Enroll(t.Context(), txs[i], "l", course, "dropped")
				done <- errors.Join(err, s.Commit(t.Context(), txs[i]))
			}()
			synctest.Wait()
		}
		err := s.Enroll(t.Context(), txs[2], "l", "a", "dropped")
		var refused interface{ Refusal() string }
		if !errors.As(err, &refused) || refused.Refusal() != "deadlock" {
			t.Errorf("the one that closes the circle got %v", err)
		}
		must(t, errors.Join(<-done, <-done))
		if err := s.Commit(t.Context(), txs[2]); err == nil {
			t.Error("it was committed after its error")
		}
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
