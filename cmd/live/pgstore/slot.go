package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// slotRow is what the server says of a slot.
type slotRow struct {
	there              bool
	status             string
	restart, confirmed pglogrepl.LSN
	end                pglogrepl.LSN // of the log
	pid                int           // of the process that streams from it, or 0
}

func readSlot(ctx context.Context, conn *pgx.Conn, name string) (slotRow, error) {
	r := slotRow{there: true}
	err := conn.QueryRow(ctx, `select coalesce(wal_status, 'lost'),
		coalesce(restart_lsn, '0/0')::text, coalesce(confirmed_flush_lsn, '0/0')::text,
		pg_current_wal_insert_lsn()::text, coalesce(active_pid, 0)
		from pg_replication_slots where slot_name = $1`, name,
	).Scan(&r.status, &r.restart, &r.confirmed, &r.end, &r.pid)
	if errors.Is(err, pgx.ErrNoRows) {
		return slotRow{}, nil
	}
	return r, err
}

// state names it as hops know it: "reserved" covers PostgreSQL's "extended" too.
func (r slotRow) state() string {
	switch {
	case !r.there:
		return "missing"
	case r.status == "lost", r.status == "unreserved":
		return r.status
	}
	return "reserved"
}

// retained and lag are in bytes; a slot that is lost holds nothing back.
func (r slotRow) retained() (retained, lag int64) {
	if !r.there {
		return 0, 0
	}
	if r.status != "lost" && r.restart > 0 {
		retained = int64(r.end - r.restart)
	}
	return retained, int64(r.end - r.confirmed)
}

// Slot returns the state of the slot, "reserved", "unreserved" (it keeps more than it
// may, and is lost at the next checkpoint), "lost" or "missing"; how many bytes of the
// log it holds back; and how many there are after what was confirmed.
func (s *Store) Slot(ctx context.Context) (state string, retained, lag int64, err error) {
	var r slotRow
	err = s.once(ctx, func(conn *pgx.Conn) (err error) {
		r, err = readSlot(ctx, conn, s.names.slot)
		return err
	})
	if err != nil {
		return "", 0, 0, say("asking for the slot", err)
	}
	retained, lag = r.retained()
	return r.state(), retained, lag, nil
}

// kept is what the table slot says.
type kept struct {
	making      bool
	began, told pglogrepl.LSN
	resume      position
}

func (s *Store) readKept(ctx context.Context, conn *pgx.Conn) (kept, error) {
	var k kept
	var resume string
	err := conn.QueryRow(ctx, s.names.sql(`select began is null, coalesce(began, '0/0')::text,
		coalesce(told, '0/0')::text, resume from SCHEMA.slot`),
	).Scan(&k.making, &k.began, &k.told, &resume)
	if err != nil {
		return k, err
	}
	k.resume, err = parsePosition(resume)
	return k, err
}

// standing is where a stream may begin.
type standing struct {
	slotRow
	after position // everything up to here is left out
}

// stand finds out where a stream may begin that wants what is after from, and whether
// the slot still has all of that. It reads the slot before the table: whoever confirms
// writes them in the other order.
func (s *Store) stand(ctx context.Context, from position) (standing, error) {
	var st standing
	err := s.once(ctx, func(conn *pgx.Conn) error {
		row, err := readSlot(ctx, conn, s.names.slot)
		if err != nil {
			return err
		}
		k, err := s.readKept(ctx, conn)
		if err != nil {
			return err
		}
		st = standing{row, later(from, k.resume)}
		switch {
		case !row.there:
			return errMissing
		case row.state() == "lost":
			return errLost
		case k.making:
			return errMaking
		case row.confirmed > max(k.told, k.began):
			return errMoved
		case from != position{} && from.lsn < k.began:
			return errNewSlot
		case from.lsn > row.end:
			return errAhead
		}
		return nil
	})
	return st, err
}

// CreateSlot creates the slot, instead of the one that there may be, and begins anew: a
// stream from no position has what commits from now on. What is between an older slot
// and this is in no stream: publish a snapshot of the table first. A slot that is
// created in any other way counts as lost. It waits for open transactions.
func (s *Store) CreateSlot(ctx context.Context) error {
	return say("creating the slot", s.once(ctx, func(conn *pgx.Conn) error {
		if err := s.dropSlot(ctx, conn, s.names.slot); err != nil {
			return err
		}
		// What begins to stream before all is done is told so, by began.
		_, err := conn.Exec(ctx, s.names.sql(
			"update SCHEMA.slot set began = null, told = null, resume = ''"))
		if err != nil {
			return err
		}
		if err := s.newSlot(ctx, conn, s.names.slot); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, s.names.sql(`update SCHEMA.slot set began = confirmed_flush_lsn
			from pg_replication_slots where slot_name = $1`), s.names.slot)
		return err
	}))
}

func (s *Store) newSlot(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, "select pg_create_logical_replication_slot($1, 'pgoutput')", name)
	return err
}

// DropSlot removes the slot, and ends its stream. One that is missing is no error.
func (s *Store) DropSlot(ctx context.Context) error {
	return say("dropping the slot", s.once(ctx, func(conn *pgx.Conn) error {
		return s.dropSlot(ctx, conn, s.names.slot)
	}))
}

// dropSlot ends whoever streams from a slot first, which takes them a moment.
func (s *Store) dropSlot(ctx context.Context, conn *pgx.Conn, name string) error {
	for {
		r, err := readSlot(ctx, conn, name)
		if err != nil || !r.there {
			return err
		}
		if r.pid != 0 {
			if _, err := conn.Exec(ctx, "select pg_terminate_backend($1)", r.pid); err != nil {
				return err
			}
		} else {
			_, err = conn.Exec(ctx, "select pg_drop_replication_slot($1)", name)
			if code := codeOf(err); code != codeActive && code != codeMissing {
				return err
			}
		}
		if err := pauseFor(ctx); err != nil {
			return err
		}
	}
}

// codeOf is the SQLSTATE of the server's answer, "" for none.
func codeOf(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return ""
	}
	return pg.Code
}

// pauseFor waits for what the server does by itself in a moment.
func pauseFor(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
