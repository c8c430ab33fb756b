package database_test

import (
	"errors"
	"fmt"
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
		c := database.Config{Background: 1000, Keep: 64 << 20}
		in(t, c, func(t *testing.T, db *database.DB) {
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
