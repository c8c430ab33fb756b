package contract

import (
	"context"
	"fmt"
)

var transactions = []databaseSentence{
	{"what is not committed is not seen", notSeen},
	{"what is rolled back is never seen", rolledBack},
	{"the death of a session rolls back and frees its rows", death},
	{"enroll waits for the transaction that holds its row", enrollWaits},
	{"enroll waits no longer than its context", enrollBounded},
	{"of two transactions that wait for each other one is refused", deadlock},
	{"a transaction that is gone cannot be committed", goneCommit},
	{"a crash of the server keeps what is committed and nothing else", crashKeeps},
}

// rows claims everything, gives it back, and returns the keys in order.
func (c *client) rows() []string {
	c.Helper()
	claim, keys, _, err := c.db.Claim(c.ctx(), 100)
	c.must("claim", err)
	if (claim == 0) != (len(keys) == 0) {
		c.Errorf("claim %d has %d rows", claim, len(keys))
	}
	if claim != 0 {
		c.must("release", c.db.Release(c.ctx(), claim))
	}
	return keys
}

func notSeen(s *server) {
	a, b := s.client(), s.client()
	tx := a.begin()
	a.enroll(tx, "l/a", "enrolled")
	a.publish(tx, "l/a", "enrolled")
	s.same("before the commit", b.rows(), nil)
	a.commit(tx)
	s.same("after the commit", b.rows(), []string{"l/a"})
}

func rolledBack(s *server) {
	a, b := s.client(), s.client()
	tx := a.begin()
	a.enroll(tx, "l/a", "enrolled")
	a.publish(tx, "l/a", "enrolled")
	s.must("rollback", a.db.Rollback(s.ctx(), tx))
	b.change("l/a")
	s.same("after the rollback", b.rows(), []string{"l/a"})
}

func death(s *server) {
	a, b := s.client(), s.client()
	tx := a.begin()
	a.enroll(tx, "l/a", "enrolled")
	a.publish(tx, "l/a", "enrolled")
	a.end()
	b.change("l/a") // it waits for the row no longer than Soon
	s.same("after the death", b.rows(), []string{"l/a"})
}

func enrollWaits(s *server) {
	a, b := s.client(), s.client()
	first, second := a.begin(), b.begin()
	a.enroll(first, "l/a", "enrolled")
	b.enroll(second, "l/b", "enrolled") // another row is free
	w := s.start(func() error { return b.db.Enroll(s.Context(), second, "l", "a", "dropped") })
	w.waits()
	a.commit(first)
	s.must("enroll after the commit", w.returns())
	third := a.begin()
	w = s.start(func() error { return a.db.Enroll(s.Context(), third, "l", "a", "enrolled") })
	w.waits()
	s.must("rollback", b.db.Rollback(s.ctx(), second))
	s.must("enroll after the rollback", w.returns())
	a.commit(third)
}

func enrollBounded(s *server) {
	a, b := s.client(), s.client()
	first, second := a.begin(), b.begin()
	a.enroll(first, "l/a", "enrolled")
	b.publish(second, "l/b", "enrolled")
	ctx, cancel := context.WithCancel(s.Context())
	w := s.start(func() error { return b.db.Enroll(ctx, second, "l", "a", "dropped") })
	w.waits()
	cancel()
	if err := w.returns(); err == nil {
		s.Error("it returned no error")
	}
	if err := b.db.Commit(s.ctx(), second); err == nil {
		s.Error("the transaction of a statement that was given up was committed")
	}
	a.commit(first)
	b.change("l/a")
	s.same("what was published", a.rows(), []string{"l/a"})
}

func deadlock(s *server) {
	a, b := s.client(), s.client()
	first, second := a.begin(), b.begin()
	a.publish(first, "a/a", "enrolled")
	b.publish(second, "b/b", "enrolled")
	a.enroll(first, "l/a", "enrolled")
	b.enroll(second, "l/b", "enrolled")
	one := s.start(func() error { return a.db.Enroll(s.Context(), first, "l", "b", "dropped") })
	one.waits()
	two := s.start(func() error { return b.db.Enroll(s.Context(), second, "l", "a", "dropped") })
	errA, errB := one.returns(), two.returns()
	if (errA == nil) == (errB == nil) {
		s.Fatalf("the two were told %v and %v; one of them should be refused", errA, errB)
	}
	commitA, commitB := a.db.Commit(s.ctx(), first), b.db.Commit(s.ctx(), second)
	if (commitA == nil) != (errA == nil) || (commitB == nil) != (errB == nil) {
		s.Errorf("after %v and %v the commits returned %v and %v", errA, errB, commitA, commitB)
	}
	want := "a/a"
	if errA != nil {
		want = "b/b"
	}
	s.same("published", s.client().rows(), []string{want})
}

func goneCommit(s *server) {
	a := s.client()
	tx := a.begin()
	a.publish(tx, "l/a", "enrolled")
	s.must("rollback", a.db.Rollback(s.ctx(), tx))
	s.must("rollback again", a.db.Rollback(s.ctx(), tx))
	for _, x := range []struct {
		what string
		err  error
	}{
		{"commit", a.db.Commit(s.ctx(), tx)},
		{"publish", a.db.Publish(s.ctx(), tx, "l", "b", "enrolled")},
		{"enroll", a.db.Enroll(s.ctx(), tx, "l", "b", "enrolled")},
		{"mark", a.db.Mark(s.ctx(), tx)},
	} {
		if x.err == nil {
			s.Errorf("%s of a transaction that was rolled back returned no error", x.what)
		}
	}
	s.same("published", a.rows(), nil)
}

func crashKeeps(s *server) {
	if s.Crash == nil {
		s.Skip("this server cannot crash")
	}
	a, b := s.client(), s.client()
	a.change("l/a", "l/b", "l/c")
	claim, _, _, err := b.db.Claim(s.ctx(), 1)
	s.must("claim", err)
	s.must("mark", b.db.Mark(s.ctx(), claim))
	claim, _, _, err = b.db.Claim(s.ctx(), 1)
	s.must("claim", err)
	tx := a.begin()
	a.enroll(tx, "l/d", "enrolled")
	a.publish(tx, "l/d", "enrolled")
	s.Crash()
	if err := a.db.Commit(s.ctx(), tx); err == nil {
		s.Error("a transaction of before the crash was committed after it")
	}
	if err := b.db.Mark(s.ctx(), claim); err == nil {
		s.Error("a claim of before the crash was marked after it")
	}
	s.within("a change after the crash", func() error {
		c := s.client()
		tx, err := c.db.Begin(s.ctx())
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		return c.db.Rollback(s.ctx(), tx)
	})
	c := s.client()
	c.change("l/d") // its row is free
	s.same("after the crash", c.rows(), []string{"l/b", "l/c", "l/d"})
}
