package database

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// stream is what a session reads from the slot.
type stream struct {
	session *Session
	at      position // what was handed out last
	// owes: changes were handed out after the last keepalive. PostgreSQL says where
	// it stands before it goes to sleep, while the client has not confirmed that.
	owes bool
	seen time.Duration // when its client was heard last
	err  error         // why it ended
	wake chan struct{} // has room for one
}

func (st *stream) ring() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// endStream ends the stream that has the slot.
func (db *DB) endStream(st *stream, err error) {
	st.err = err
	st.ring()
	st.session.stream, st.session.ended = nil, err
	if db.stream == st {
		db.stream = nil
	}
}

// Stream begins to stream what committed after the slot's confirmed position, or
// after from where that is later; an older one is ignored in silence. An earlier
// stream of the session ends first. While another session has the slot, and for a
// moment after the connection of its stream broke, the slot is active, which is an
// error.
//
// An error whose chain has SlotLost() true says that changes are gone: the slot was
// lost, is missing, or was created anew after from.
func (s *Session) Stream(_ context.Context, from string) error {
	at, err := parsePosition(from)
	if err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	defer db.mu.Unlock()
	if s.stream != nil {
		db.endStream(s.stream, errNoStream)
	}
	now := db.now()
	if st := db.stream; st != nil && now-st.seen > db.cfg.SenderTimeout {
		db.endStream(st, errBroken)
	}
	switch {
	case !db.slot.there:
		return errMissing
	case db.slot.lost:
		return errLost
	case from != "" && at.lsn < db.slot.created:
		return errNewSlot
	case db.stream != nil || now < db.lingering:
		return errActive
	}
	if confirmed := (position{lsn: db.slot.confirmed}); at.compare(confirmed) < 0 {
		at = confirmed
	}
	db.stream = &stream{session: s, at: at, seen: now, wake: make(chan struct{}, 1)}
	s.stream = db.stream
	return nil
}

// noStream says why the session has no stream.
func (s *Session) noStream() error { return cmp.Or(s.ended, errNoStream) }

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.lsn, q.lsn), cmp.Compare(p.nth, q.nth))
}

// Next returns the next change in the order of commits: its position, its key and its
// value. With the key "" it is a keepalive: the position is where the server stands,
// and there is no change up to it that was not handed out. It comes after
// [KeepaliveEvery] at the latest, and right after changes that are not confirmed.
func (s *Session) Next(ctx context.Context) (lsn, key string, value []byte, err error) {
	if err := s.begin(); err != nil {
		return "", "", nil, err
	}
	db, st := s.db, s.stream
	defer db.mu.Unlock()
	if st == nil {
		return "", "", nil, s.noStream()
	}
	if db.now()-st.seen > db.cfg.SenderTimeout {
		db.endStream(st, errBroken)
	}
	timer := time.NewTimer(KeepaliveEvery)
	defer timer.Stop()
	for due := false; ; {
		st.seen = db.now()
		switch c := db.after(st.at); {
		case st.err != nil:
			return "", "", nil, st.err
		case c != nil:
			st.at, st.owes = c.at, true
			return c.at.text(), c.key, slices.Clone(c.value), nil
		case due || st.owes && db.slot.confirmed < db.end:
			st.at, st.owes = position{lsn: db.end}, false
			return st.at.text(), "", nil, nil
		}
		db.mu.Unlock()
		select {
		case <-st.wake:
		case <-timer.C:
			due = true
		case <-ctx.Done():
		}
		db.mu.Lock()
		if ctx.Err() != nil {
			return "", "", nil, ctx.Err()
		}
		db.tick()
	}
}

// after returns the first change after a position, nil for none.
func (db *DB) after(at position) *change {
	i, _ := slices.BinarySearchFunc(db.changes, at, func(c change, at position) int {
		if c.at.compare(at) <= 0 {
			return -1
		}
		return 1
	})
	if i == len(db.changes) {
		return nil
	}
	return &db.changes[i]
}

// Confirm says that all up to lsn is durable elsewhere. Inside a transaction that has
// more changes than were confirmed it moves the slot to its beginning: a stream that
// begins anew has it whole. An older position than the slot's is ignored.
//
// What was confirmed since the server last wrote the slot to disk is forgotten when
// it crashes: those changes come again.
func (s *Session) Confirm(_ context.Context, lsn string) error {
	at, err := parsePosition(lsn)
	if err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	defer db.mu.Unlock()
	if s.stream == nil {
		return s.noStream()
	}
	s.stream.seen = db.now()
	db.confirm(db.ends(at))
	return nil
}

// ends returns up to which LSN everything is covered by a position.
func (db *DB) ends(at position) uint64 {
	i, ok := slices.BinarySearchFunc(db.commits, at.lsn, func(c *commit, lsn uint64) int {
		return cmp.Compare(c.lsn, lsn)
	})
	if ok && at.nth > 0 && at.nth >= db.commits[i].changes {
		return db.commits[i].end
	}
	return at.lsn
}
