package contract

import (
	"context"
	"errors"
	"fmt"
)

var streams = []databaseSentence{
	{"changes come in the order of commits", commitOrder},
	{"the changes of one transaction come together, in their order", together},
	{"an open transaction holds no other change up", notHeld},
	{"a quiet stream says where it stands in time", keptAlive},
	{"what is confirmed does not come again", confirmed},
	{"a stream begins after the position asked for", asksLater},
	{"asking for an older position is ignored", asksOlder},
	{"an older position confirmed moves nothing back", confirmsOlder},
	{"inside a transaction only what was confirmed may be left out", inside},
	{"the slot has one stream until its session dies", oneStream},
	{"without a stream there is nothing to read or to confirm", noStream},
	{"a crash of the server skips nothing, and brings confirmed changes again or not", crashBack},
}

// item is one thing that a stream handed out.
type item struct{ lsn, key, op string }

// stream opens a stream; for a moment after another one broke it may be refused.
func (c *client) stream(from string) {
	c.Helper()
	c.within("stream from "+from, func() error { return c.db.Stream(c.ctx(), from) })
}

// next returns the next change, and passes keepalives over: a few, as a change that was
// skipped never comes.
func (c *client) next() item {
	c.Helper()
	const most = 4
	for range most {
		i, err := c.read()
		c.must("next", err)
		if i.key != "" {
			return i
		}
	}
	c.Fatalf("instead of a change came %d keepalives", most)
	return item{}
}

func (c *client) read() (item, error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), keepalive+c.Soon)
	defer cancel()
	lsn, key, value, err := c.db.Next(ctx)
	if err != nil {
		return item{}, err
	}
	if !sortable(lsn) {
		c.Errorf("the position %q is not 16 hex digits, a slash and 8 more", lsn)
	}
	if key == "" {
		return item{lsn: lsn}, nil
	}
	p := c.parse(key, value)
	if p.LSN != lsn {
		c.Errorf("the change at %s has the source_lsn %s", lsn, p.LSN)
	}
	return item{lsn, key, p.Op}, nil
}

// nexts wants the next changes, and their positions to rise.
func (c *client) nexts(want ...string) []item {
	c.Helper()
	var items []item
	for i, key := range want {
		it := c.next()
		if it.key != key {
			c.Errorf("change %d is of %s, not of %s", i+1, it.key, key)
		}
		if i > 0 && items[i-1].lsn >= it.lsn {
			c.Errorf("the position %s comes after %s", it.lsn, items[i-1].lsn)
		}
		items = append(items, it)
	}
	return items
}

func (c *client) confirm(lsn string) {
	c.Helper()
	c.must("confirm "+lsn, c.db.Confirm(c.ctx(), lsn))
}

// enrolled makes and commits one change of each key, without the outbox.
func (c *client) enrolled(keys ...string) {
	c.Helper()
	for _, key := range keys {
		tx := c.begin()
		c.enroll(tx, key, "enrolled")
		c.commit(tx)
	}
}

func commitOrder(s *server) {
	a, b, c := s.client(), s.client(), s.client()
	first, second := a.begin(), b.begin()
	a.enroll(first, "l/a", "enrolled")
	b.enroll(second, "l/b", "enrolled")
	a.enroll(first, "l/c", "dropped")
	b.commit(second)
	a.commit(first)
	c.stream("")
	items := c.nexts("l/b", "l/a", "l/c")
	if items[2].op != "dropped" {
		s.Errorf("the last change is %+v", items[2])
	}
}

func together(s *server) {
	a, b := s.client(), s.client()
	b.stream("")
	tx := a.begin()
	for _, key := range []string{"l/c", "l/a", "l/c"} {
		a.enroll(tx, key, "enrolled")
	}
	a.commit(tx)
	a.enrolled("l/b")
	b.nexts("l/c", "l/a", "l/c", "l/b")
}

func notHeld(s *server) {
	a, b, c := s.client(), s.client(), s.client()
	c.stream("")
	open, gone := a.begin(), a.begin()
	a.enroll(open, "l/a", "enrolled")
	a.enroll(gone, "l/x", "enrolled")
	b.enrolled("l/b")
	c.nexts("l/b")
	s.must("rollback", a.db.Rollback(s.ctx(), gone))
	a.commit(open)
	c.nexts("l/a")
}

func keptAlive(s *server) {
	a, b := s.client(), s.client()
	b.stream("")
	a.enrolled("l/a")
	it := b.next()
	k, err := b.read()
	s.must("next", err)
	if k.key != "" || k.lsn <= it.lsn {
		s.Errorf("after the change at %s came %+v, not a later position", it.lsn, k)
	}
	b.confirm(k.lsn)
	k, err = b.read() // now it is quiet
	s.must("next", err)
	if k.key != "" {
		s.Errorf("without any change came one: %+v", k)
	}
	a.enrolled("l/b")
	if later := b.next(); later.key != "l/b" || later.lsn <= k.lsn {
		s.Errorf("after the keepalive at %s came %+v", k.lsn, later)
	}
}

func confirmed(s *server) {
	a, b := s.client(), s.client()
	a.enrolled("l/a", "l/b", "l/c")
	b.stream("")
	b.confirm(b.nexts("l/a", "l/b", "l/c")[1].lsn)
	b.end()
	c := s.client()
	c.stream("")
	c.confirm(c.nexts("l/c")[0].lsn)
	c.end()
	a.enrolled("l/d")
	d := s.client()
	d.stream("")
	d.nexts("l/d")
}

func asksLater(s *server) {
	a, b := s.client(), s.client()
	a.enrolled("l/a", "l/b", "l/c")
	b.stream("")
	at := b.nexts("l/a", "l/b")[1].lsn
	b.end()
	c := s.client()
	c.stream(at)
	c.nexts("l/c")
}

func asksOlder(s *server) {
	a, b := s.client(), s.client()
	a.enrolled("l/a", "l/b", "l/c")
	b.stream("")
	items := b.nexts("l/a", "l/b")
	b.confirm(items[1].lsn)
	b.end()
	c := s.client()
	c.stream(items[0].lsn)
	c.nexts("l/c")
}

func confirmsOlder(s *server) {
	a, b := s.client(), s.client()
	a.enrolled("l/a", "l/b", "l/c")
	b.stream("")
	items := b.nexts("l/a", "l/b")
	b.confirm(items[1].lsn)
	b.confirm(items[0].lsn)
	b.end()
	c := s.client()
	c.stream("")
	c.nexts("l/c")
}

func inside(s *server) {
	a, b := s.client(), s.client()
	tx := a.begin()
	a.enroll(tx, "l/a", "enrolled")
	a.enroll(tx, "l/b", "enrolled")
	a.commit(tx)
	b.stream("")
	at := b.nexts("l/a")[0].lsn
	b.confirm(at)
	b.end()
	c := s.client()
	c.stream(at)
	c.nexts("l/b")
	c.end()
	d := s.client()
	d.stream("")
	if it := d.next(); it.key == "l/a" {
		d.nexts("l/b")
	} else if it.key != "l/b" {
		s.Errorf("after one of two changes was confirmed came %+v", it)
	}
}

func oneStream(s *server) {
	a, b := s.client(), s.client()
	a.stream("")
	for range 2 {
		err := b.db.Stream(s.ctx(), "")
		if err == nil || slotLost(err) {
			s.Fatalf("a second stream got %v", err)
		}
	}
	s.client().enrolled("l/a")
	a.nexts("l/a")
	a.end()
	b.stream("")
	b.nexts("l/a")
}

func noStream(s *server) {
	a := s.client()
	if _, _, _, err := a.db.Next(s.ctx()); err == nil {
		s.Error("next without a stream returned no error")
	}
	a.enrolled("l/a")
	b := s.client()
	b.stream("")
	at := b.nexts("l/a")[0].lsn
	b.end()
	if err := a.db.Confirm(s.ctx(), at); err == nil {
		s.Error("confirm without a stream returned no error")
	}
	c := s.client()
	c.stream("")
	c.nexts("l/a")
}

func crashBack(s *server) {
	if s.Crash == nil {
		s.Skip("this server cannot crash")
	}
	keys := []string{"l/a", "l/b", "l/c"}
	a, b := s.client(), s.client()
	a.enrolled(keys...)
	b.stream("")
	items := b.nexts(keys...)
	b.confirm(items[1].lsn) // and not the last one
	s.Crash()
	s.within("an error of the stream of before the crash", func() error {
		if _, err := b.read(); err == nil {
			return errors.New("it goes on")
		}
		return nil
	})
	s.within("a change after the crash", func() error {
		c := s.client()
		tx, err := c.db.Begin(s.ctx())
		if err != nil {
			return err
		}
		if err := c.db.Enroll(s.ctx(), tx, "l", "d", "enrolled"); err != nil {
			return err
		}
		return c.db.Commit(s.ctx(), tx)
	})
	c := s.client()
	c.stream("")
	var again []string
	for it := c.next(); it.key != "l/d"; it = c.next() {
		again = append(again, it.key)
	}
	n := len(again) // the last one was not confirmed, so it is 1 at least
	if n == 0 || n > len(keys) || fmt.Sprint(again) != fmt.Sprint(keys[len(keys)-n:]) {
		s.Errorf("before the last change came %v: no end of %v", again, keys)
	}
	c.end()
	d := s.client()
	d.stream(items[2].lsn) // a sink that knows where it was has none again
	d.nexts("l/d")
}
