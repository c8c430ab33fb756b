package database

import (
	"context"
	"encoding/json"
)

// tx is a transaction of the application or a claim of a poller. It is open as long
// as db.open has it.
type tx struct {
	session *Session
	handle  uint64
	xid     uint64 // 0 until it writes
	first   uint64 // LSN of its first record; 0 until it writes
	ended   bool
	failed  bool // a statement had an error: nothing but its end is accepted
	commit  *commit

	locks   []*row // in the order in which it got them
	writes  []written
	rows    []*outboxRow // that it inserted, or claimed
	waiting *wait
	claim   bool
}

// written is a row of enrollment that a transaction wrote.
type written struct {
	row *row
	op  string
	lsn uint64 // of the record
}

// commit is a transaction in the log.
type commit struct {
	lsn, end uint64 // of the record of the commit, and where it ends
	changes  uint32 // of tables that are streamed
}

// change is one row of the stream.
type change struct {
	at    position
	row   uint64 // LSN of the row's own record
	key   string
	value []byte
}

// valueOf is a change as it is published.
func valueOf(learner, course, op string, at position) []byte {
	value, err := json.Marshal(struct {
		Learner string `json:"learner_id"`
		Course  string `json:"course_id"`
		Op      string `json:"op"`
		LSN     string `json:"source_lsn"`
	}{learner, course, op, at.text()})
	if err != nil {
		panic("database: a change does not marshal: " + err.Error())
	}
	return value
}

// Begin opens a transaction. It takes no id and holds nothing back until it writes.
func (s *Session) Begin(context.Context) (uint64, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.db.mu.Unlock()
	return s.newTx().handle, nil
}

func (s *Session) newTx() *tx {
	s.db.handles++
	t := &tx{session: s, handle: s.db.handles}
	s.all[t.handle] = t
	s.db.open = append(s.db.open, t)
	return t
}

// openTx returns the application's transaction with this handle, and with it an error
// if it accepts nothing but its end.
func (s *Session) openTx(handle uint64) (*tx, error) {
	t := s.all[handle]
	switch {
	case t == nil || t.ended || t.claim:
		return nil, errNoTx
	case t.waiting != nil: // a connection does one thing at a time
		return nil, errBusy
	case t.failed:
		return t, errAborted
	}
	return t, nil
}

// wrote gives t its id with its first record, which begins at lsn.
func (db *DB) wrote(t *tx, lsn uint64) {
	if t.xid == 0 {
		db.xid++
		t.xid, t.first = db.xid, lsn
	}
}

// Enroll upserts the row of learner and course. It takes the row's lock, which it
// waits for until ctx ends. After an error the transaction is rolled back, whatever
// is said to it.
func (s *Session) Enroll(ctx context.Context, handle uint64, learner, course, op string) error {
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	t, err := s.openTx(handle)
	if err != nil {
		db.mu.Unlock()
		return err
	}
	w, err := db.lock(t, db.row(learner, course), op)
	db.mu.Unlock()
	if w == nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if t.waiting != w {
		return <-w.done // it came all the same
	}
	db.fail(t)
	return ctx.Err()
}

// Publish inserts the outbox row of a change: the id is drawn from the sequence now
// and is seen at the commit. Its source_lsn is where the log stands now, which is the
// order of commits only among transactions that took the row of enrollment first.
func (s *Session) Publish(
	_ context.Context, handle uint64, learner, course, op string,
) error {
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	defer db.mu.Unlock()
	t, err := s.openTx(handle)
	if err != nil {
		return err
	}
	lsn := db.write(db.cfg.RowBytes)
	db.wrote(t, lsn)
	at := position{lsn, uint32(len(t.rows) + 1)}
	r := &outboxRow{
		id: db.nextID(), by: t, key: learner + "/" + course, op: op, at: at,
		value: valueOf(learner, course, op, at),
	}
	t.rows = append(t.rows, r)
	db.outbox = append(db.outbox, r)
	return nil
}

// Commit makes what the transaction did durable and visible, at once.
func (s *Session) Commit(_ context.Context, handle uint64) error {
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	defer db.mu.Unlock()
	t, err := s.openTx(handle)
	switch {
	case err == nil && t.xid != 0:
		db.apply(t)
	case err != nil && t == nil:
		return err
	}
	db.finish(t)
	return err
}

// Rollback undoes the transaction. One that is gone is none to undo.
func (s *Session) Rollback(_ context.Context, handle uint64) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if t := s.all[handle]; t != nil && !t.ended && !t.claim {
		s.db.drop(t, errNoTx)
	}
	return nil
}

// apply writes the commit of t into the log and carries out what it wrote.
func (db *DB) apply(t *tx) {
	c := &commit{lsn: db.write(recordBytes)}
	c.end = db.end
	t.commit = c
	db.commits = append(db.commits, c)
	for _, w := range t.writes {
		c.changes++
		w.row.op, w.row.at = w.op, position{c.lsn, c.changes}
		db.changes = append(db.changes, change{
			at: w.row.at, row: w.lsn, key: w.row.key,
			value: valueOf(w.row.learner, w.row.course, w.op, w.row.at),
		})
	}
	for _, r := range t.rows {
		if t.claim {
			r.published = true
		} else {
			r.commit = c
		}
	}
	if db.stream != nil {
		db.stream.ring()
	}
}

// finish ends t and gives its locks to who waits for them.
func (db *DB) finish(t *tx) {
	t.ended = true
	for i, o := range db.open {
		if o == t {
			db.open = append(db.open[:i], db.open[i+1:]...)
			break
		}
	}
	if t.claim {
		for _, r := range t.rows {
			r.claim = nil
		}
	}
	db.unlock(t)
}

// drop rolls t back. A statement of it that waits returns err.
func (db *DB) drop(t *tx, err error) {
	if t.waiting != nil {
		t.waiting.leave(err)
	}
	db.undo(t)
	db.finish(t)
}

// fail rolls t back as an error does: the transaction stays, and accepts its end alone.
func (db *DB) fail(t *tx) {
	if t.waiting != nil {
		t.waiting.leave(errAborted)
	}
	t.failed = true
	db.undo(t)
	db.unlock(t)
}

func (db *DB) undo(t *tx) {
	if !t.claim {
		t.writes, t.rows = nil, nil
	}
}

// abandon drops the open transactions that which picks, oldest first.
func (db *DB) abandon(which func(*tx) bool, err error) {
	var gone []*tx
	for _, t := range db.open {
		if which(t) {
			gone = append(gone, t)
		}
	}
	for _, t := range gone {
		if t.waiting != nil {
			t.waiting.leave(err) // or it would get the row of another that goes with it
		}
	}
	for _, t := range gone {
		db.drop(t, err)
	}
}
