package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// outboxRows are rows as they are handed out.
type outboxRows struct {
	xids   []uint64
	ids    []int64
	keys   []string
	values [][]byte
	lsns   []string
}

// rowColumns are what collect reads.
const rowColumns = "xid::text::bigint, id, learner, course, op, source_lsn"

func collect(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (outboxRows, error) {
	var all outboxRows
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return all, err
	}
	var xid, id int64
	var learner, course, op, lsn string
	_, err = pgx.ForEachRow(rows, []any{&xid, &id, &learner, &course, &op, &lsn}, func() error {
		all.xids, all.ids = append(all.xids, uint64(xid)), append(all.ids, id)
		all.keys, all.lsns = append(all.keys, learner+"/"+course), append(all.lsns, lsn)
		all.values = append(all.values, valueOf(learner, course, op, lsn))
		return nil
	})
	return all, err
}

// Claim locks up to limit rows that are committed and not published, oldest id first.
// It leaves out rows that are locked, and rows of a key that another claim holds: two
// pollers that work on one key could append its changes in the wrong order. The claim
// is 0 where there is nothing to do. The package says why it is right.
func (s *Store) Claim(ctx context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	return s.claim(ctx, "select "+rowColumns+" from SCHEMA.claim($1)", limit)
}

// ClaimRows is [Store.Claim] with "for update skip locked" alone: it hands out other
// rows of a key that another claim holds.
func (s *Store) ClaimRows(ctx context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	return s.claim(ctx, "select "+rowColumns+" from SCHEMA.outbox "+
		"where not published order by id limit $1 for update skip locked", limit)
}

func (s *Store) claim(ctx context.Context, sql string, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	const doing = "claiming rows of the outbox"
	conn, err := s.began(ctx, readCommitted)
	if err != nil {
		return 0, nil, nil, say(doing, err)
	}
	rows, err := collect(ctx, conn, s.names.sql(sql), limit)
	if err != nil {
		hangUp(conn)
		return 0, nil, nil, say(doing, err)
	}
	if len(rows.ids) == 0 { // it may have locks of keys
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			hangUp(conn)
			return 0, nil, nil, say(doing, err)
		}
		s.keep(conn)
		return 0, nil, nil, nil
	}
	claim, err = s.add(&tx{claim: true, conn: conn, ids: rows.ids, lsns: rows.lsns})
	if err != nil {
		return 0, nil, nil, err
	}
	return claim, rows.keys, rows.values, nil
}

// Mark marks the rows of a claim as published and commits.
func (s *Store) Mark(ctx context.Context, claim uint64) error {
	err := s.use(claim, true, func(t *tx, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, s.names.sql("update SCHEMA.outbox set published = true "+
			"where id = any($1) and not published"), t.ids)
		if err != nil {
			return err
		}
		if n := tag.RowsAffected(); n != int64(len(t.ids)) {
			// Its connection breaks, and with it the transaction.
			return fmt.Errorf("%d of %d rows were there to be marked", n, len(t.ids))
		}
		return s.finish(ctx, t, conn)
	})
	return say("marking rows of the outbox", err)
}

// Release gives the rows of a claim back. One that is gone holds none.
func (s *Store) Release(ctx context.Context, claim uint64) error {
	return say("releasing rows of the outbox", s.undo(ctx, claim, true))
}

// After returns up to limit committed rows whose id is greater than last, published or
// not, in the order of their ids: how pollers read that keep a cursor. A row with a
// smaller id may become visible later, and is then passed for good.
func (s *Store) After(ctx context.Context, last int64, limit int) (
	ids []int64, keys []string, values [][]byte, err error,
) {
	rows, err := s.read(ctx, "where id > $1 order by id limit $2", last, limit)
	return rows.ids, rows.keys, rows.values, err
}

// Horizon returns up to limit committed rows after (xid, id), in that order, of
// transactions that are older than every open one.
func (s *Store) Horizon(ctx context.Context, xid uint64, id int64, limit int) (
	xids []uint64, ids []int64, keys []string, values [][]byte, err error,
) {
	rows, err := s.read(ctx, `where (xid, id) > ($1::text::xid8, $2)
		and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid, id limit $3`,
		fmt.Sprint(xid), id, limit)
	return rows.xids, rows.ids, rows.keys, rows.values, err
}

func (s *Store) read(ctx context.Context, where string, args ...any) (outboxRows, error) {
	var rows outboxRows
	err := s.once(ctx, func(conn *pgx.Conn) (err error) {
		rows, err = collect(ctx, conn,
			s.names.sql("select "+rowColumns+" from SCHEMA.outbox "+where), args...)
		return err
	})
	return rows, say("reading the outbox", err)
}
