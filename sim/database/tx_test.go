package database_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hopcheck/hopcheck/sim/database"
)

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
	type end struct {
		db *database.DB
		s  *database.Session
		tx uint64
	}
	for _, x := range []struct {
		name string
		do   func(end)
	}{
		{"it is rolled back", func(e end) { e.s.Rollback(context.Background(), e.tx) }},
		{"its connection breaks", func(e end) { e.s.Drop(e.tx) }},
		{"its session ends", func(e end) { e.s.Close() }},
		{"the server crashes", func(e end) { e.db.Crash() }},
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
				x.do(end{db, b, second})
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
