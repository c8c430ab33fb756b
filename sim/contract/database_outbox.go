package contract

import "errors"

var outbox = []databaseSentence{
	{"ids become visible out of order, and a cursor on the last one skips rows", outOfOrder},
	{"a cursor under the horizon skips nothing, and stands still behind a writer", horizon},
	{"a claim has the oldest rows, up to its limit", oldest},
	{"a claim skips rows that are locked", skipsLocked},
	{"a claim skips rows of keys that another one holds", skipsKeys},
	{"rows that are released come back", released},
	{"the death of a session releases its claims", deathReleases},
	{"rows that are marked never come again", marked},
	{"source_lsn orders the changes of a key by their commits", sourceOrder},
}

func outOfOrder(s *server) {
	a, b := s.client(), s.client()
	reads := b.reads()
	early := a.begin()
	a.enroll(early, "l/a", "enrolled")
	a.publish(early, "l/a", "enrolled")
	b.change("l/b")
	ids, keys, _, err := reads.After(s.ctx(), 0, 100)
	s.must("after 0", err)
	s.same("before the earlier one commits", keys, []string{"l/b"})
	if len(ids) != 1 {
		return
	}
	last := ids[0]
	a.commit(early)
	_, keys, _, err = reads.After(s.ctx(), last, 100)
	s.must("after the last", err)
	s.same("after the last id seen", keys, nil)
	ids, keys, _, err = reads.After(s.ctx(), 0, 100)
	s.must("after 0", err)
	s.same("from the beginning", keys, []string{"l/a", "l/b"})
	if len(ids) == 2 && (ids[0] >= ids[1] || ids[1] != last) {
		s.Errorf("the ids are %d, and %d was seen first", ids, last)
	}
}

func horizon(s *server) {
	a, b := s.client(), s.client()
	reads := b.reads()
	early := a.begin()
	a.enroll(early, "l/a", "enrolled")
	a.publish(early, "l/a", "enrolled")
	b.change("l/b", "l/c")
	_, _, keys, _, err := reads.Horizon(s.ctx(), 0, 0, 100)
	s.must("horizon", err)
	s.same("with a writer that is open", keys, nil)
	a.commit(early)
	var xid uint64
	var id int64
	var got []string
	s.within("all three under the horizon", func() error {
		xids, ids, keys, _, err := reads.Horizon(s.ctx(), xid, id, 2)
		if err != nil {
			return err
		}
		got = append(got, keys...)
		if n := len(keys); n > 0 {
			xid, id = xids[n-1], ids[n-1]
		}
		if len(got) < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	s.same("once it has committed", got, []string{"l/a", "l/b", "l/c"})
}

// claim wants a claim of these keys.
func (c *client) claim(limit int, want ...string) uint64 {
	c.Helper()
	claim, keys, values, err := c.db.Claim(c.ctx(), limit)
	c.must("claim", err)
	if len(values) != len(keys) || (claim == 0) != (len(keys) == 0) {
		c.Errorf("claim %d has %d keys and %d values", claim, len(keys), len(values))
	}
	for i := range min(len(keys), len(values)) {
		c.parse(keys[i], values[i])
	}
	c.same("claimed", keys, want)
	return claim
}

func oldest(s *server) {
	a := s.client()
	a.claim(10)
	a.change("l/c", "l/a", "l/b", "l/a")
	claim := a.claim(2, "l/c", "l/a")
	s.must("mark", a.db.Mark(s.ctx(), claim))
	a.claim(10, "l/b", "l/a")
}

func skipsLocked(s *server) {
	a, b := s.client(), s.client()
	a.change("l/a", "l/b", "l/c")
	a.claim(1, "l/a")
	b.claim(1, "l/b")
	b.claim(10, "l/c")
	a.claim(10)
}

func skipsKeys(s *server) {
	a, b := s.client(), s.client()
	a.change("l/a", "l/b", "l/a", "l/b")
	claim := a.claim(1, "l/a")
	b.claim(10, "l/b", "l/b")
	s.must("mark", a.db.Mark(s.ctx(), claim))
	a.claim(10, "l/a")
}

func released(s *server) {
	a, b := s.client(), s.client()
	a.change("l/a", "l/b")
	claim := a.claim(1, "l/a")
	s.must("release", a.db.Release(s.ctx(), claim))
	s.must("release again", a.db.Release(s.ctx(), claim))
	if err := a.db.Mark(s.ctx(), claim); err == nil {
		s.Error("a claim that was released was marked")
	}
	b.claim(10, "l/a", "l/b")
}

func deathReleases(s *server) {
	a, b := s.client(), s.client()
	a.change("l/a", "l/b")
	a.claim(1, "l/a")
	a.end()
	s.within("the rows of the dead", func() error {
		claim, keys, _, err := b.db.Claim(s.ctx(), 10)
		switch {
		case err != nil:
			return err
		case len(keys) == 2:
			return nil
		case claim != 0:
			s.must("release", b.db.Release(s.ctx(), claim))
		}
		return errors.New("they are still locked")
	})
}

func marked(s *server) {
	a, b := s.client(), s.client()
	a.change("l/a", "l/b")
	claim := a.claim(1, "l/a")
	s.must("mark", a.db.Mark(s.ctx(), claim))
	a.end()
	s.same("after the mark", b.rows(), []string{"l/b"})
	if err := b.db.Mark(s.ctx(), claim); err == nil {
		s.Error("a claim was marked twice")
	}
	if s.Crash != nil {
		s.Crash()
		s.within("the rows after a crash", func() error {
			claim, keys, _, err := s.client().db.Claim(s.ctx(), 10)
			if err == nil && claim != 0 {
				s.same("after a crash", keys, []string{"l/b"})
			}
			return err
		})
	}
}

// sourceOrder has the second transaction of a key wait for the first, as every
// application does that enrolls before it publishes.
func sourceOrder(s *server) {
	a, b := s.client(), s.client()
	first, second := a.begin(), b.begin()
	a.enroll(first, "l/a", "enrolled")
	w := s.start(func() error { return b.db.Enroll(s.Context(), second, "l", "a", "dropped") })
	w.waits()
	a.publish(first, "l/a", "enrolled")
	a.commit(first)
	s.must("enroll", w.returns())
	b.publish(second, "l/a", "dropped")
	b.commit(second)
	claim, keys, values, err := a.db.Claim(s.ctx(), 10)
	s.must("claim", err)
	s.same("claimed", keys, []string{"l/a", "l/a"})
	if claim == 0 || len(values) != 2 {
		return
	}
	p, q := s.parse("l/a", values[0]), s.parse("l/a", values[1])
	if p.Op != "enrolled" || q.Op != "dropped" || p.LSN >= q.LSN {
		s.Errorf("the changes are %+v and %+v", p, q)
	}
}
