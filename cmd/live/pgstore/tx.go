package pgstore

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// readCommitted is what claims and the order of source_lsn rest on: every statement sees
// what is committed when it begins.
const readCommitted = "begin isolation level read committed"

// tx is a transaction of the application or a claim of a poller.
type tx struct {
	claim bool
	using sync.Mutex // a connection does one thing at a time

	mu     sync.Mutex
	conn   *pgx.Conn // nil once it has ended
	ids    []int64   // of rows that it inserted, or claimed
	lsns   []string  // their source_lsn
	commit string    // position
}

// end breaks the connection of a transaction that is open.
func (t *tx) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil {
		hangUp(t.conn)
		t.conn = nil
	}
}

// leave gives its connection back, and ends it.
func (t *tx) leave(s *Store) {
	t.mu.Lock()
	conn := t.conn
	t.conn = nil
	t.mu.Unlock()
	if conn != nil {
		s.keep(conn)
	}
}

// add gives it a handle.
func (s *Store) add(t *tx) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		hangUp(t.conn)
		return 0, errClosed
	}
	s.handles++
	s.all[s.handles] = t
	return s.handles, nil
}

// use has the connection of an open transaction or claim. It breaks it where the call
// fails otherwise than by an answer of the server.
func (s *Store) use(handle uint64, claim bool, do func(*tx, *pgx.Conn) error) error {
	s.mu.Lock()
	t, closed := s.all[handle], s.closed
	s.mu.Unlock()
	gone := errNoTx
	switch {
	case closed:
		return errClosed
	case claim:
		gone = errNoClaim
	}
	if t == nil || t.claim != claim {
		return gone
	}
	if !t.using.TryLock() {
		return errBusy
	}
	defer t.using.Unlock()
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn == nil {
		return gone
	}
	err := do(t, conn)
	if err != nil && refused(err) == nil || conn.IsClosed() {
		t.end()
	}
	return err
}

// Begin opens a transaction, on a connection of its own.
func (s *Store) Begin(ctx context.Context) (uint64, error) {
	conn, err := s.began(ctx, readCommitted)
	if err != nil {
		return 0, say("beginning a transaction", err)
	}
	return s.add(&tx{conn: conn})
}

// Enroll upserts the row of learner and course. It takes the row's lock, which it waits
// for until ctx ends; then the connection is broken, and the transaction gone.
func (s *Store) Enroll(ctx context.Context, handle uint64, learner, course, op string) error {
	err := s.use(handle, false, func(_ *tx, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, s.names.sql(`insert into SCHEMA.enrollment values ($1, $2, $3)
			on conflict (learner, course) do update set op = excluded.op`), learner, course, op)
		return err
	})
	return say("enrolling "+learner+"/"+course, err)
}

// Publish inserts the outbox row of a change: the id is drawn from the sequence now and
// is seen at the commit. Its source_lsn is where the log stands now, which is the order
// of commits only among transactions that took the row of enrollment first.
func (s *Store) Publish(ctx context.Context, handle uint64, learner, course, op string) error {
	err := s.use(handle, false, func(t *tx, conn *pgx.Conn) error {
		nth := fmt.Sprintf("/%08X", len(t.ids)+1)
		var id int64
		var lsn string
		err := conn.QueryRow(ctx, s.names.sql(`insert into SCHEMA.outbox
			(learner, course, op, source_lsn) values ($1, $2, $3, lpad(upper(to_hex(
				(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint)), 16, '0') || $4::text)
			returning id, source_lsn`), learner, course, op, nth).Scan(&id, &lsn)
		if err == nil {
			t.has(id, lsn)
		}
		return err
	})
	return say("publishing "+learner+"/"+course, err)
}

func (t *tx) has(id int64, lsn string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids, t.lsns = append(t.ids, id), append(t.lsns, lsn)
}

// Commit makes what the transaction did durable and visible, at once.
func (s *Store) Commit(ctx context.Context, handle uint64) error {
	err := s.use(handle, false, func(t *tx, conn *pgx.Conn) error {
		return s.finish(ctx, t, conn)
	})
	return say("committing", err)
}

// finish commits. A transaction that had an error is rolled back by the server, and the
// answer is then no error.
func (s *Store) finish(ctx context.Context, t *tx, conn *pgx.Conn) error {
	if conn.PgConn().TxStatus() == failedTx {
		_, err := conn.Exec(ctx, "rollback")
		if err != nil {
			return err
		}
		t.leave(s)
		return errAborted
	}
	mark := s.beforeCommit(ctx, conn)
	tag, err := conn.Exec(ctx, "commit")
	switch {
	case err != nil:
		if refused(err) != nil {
			t.leave(s) // the server has ended it
		}
		return err
	case tag.String() != "COMMIT":
		t.leave(s)
		return errAborted
	}
	t.mu.Lock()
	t.commit = s.afterCommit(ctx, conn, mark)
	t.mu.Unlock()
	t.leave(s)
	return nil
}

// failedTx is the server's word, in every answer, for a transaction that had an error.
const failedTx = 'E'

// Rollback undoes the transaction. One that is gone is none to undo.
func (s *Store) Rollback(ctx context.Context, handle uint64) error {
	return say("rolling back", s.undo(ctx, handle, false))
}

func (s *Store) undo(ctx context.Context, handle uint64, claim bool) error {
	err := s.use(handle, claim, func(t *tx, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "rollback")
		if err == nil {
			t.leave(s)
		}
		return err
	})
	if err == errNoTx || err == errNoClaim {
		return nil
	}
	return err
}
