package pgstore

import (
	"context"
	"sync"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// What a store knows and no statement returns. These are for a history and for tests, and
// cross no connection.

// Committed returns the position of the commit of a transaction or of a claim, "" where
// there was none, or where it is not known: it needs the extension pg_walinspect, of
// PostgreSQL 15 and later, and the right to use it.
func (s *Store) Committed(handle uint64) string {
	t := s.of(handle)
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.commit
}

// Rows returns the outbox rows that a transaction inserted or a claim holds: their ids,
// and their source_lsn.
func (s *Store) Rows(handle uint64) (ids []int64, lsns []string) {
	t := s.of(handle)
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(ids, t.ids...), append(lsns, t.lsns...)
}

// Confirmed returns how far the slot is confirmed, as this store knows: what was so when
// its last stream began, and what it has confirmed since.
func (s *Store) Confirmed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirmed.text()
}

// Drop breaks the connection of a transaction or a claim: the server rolls it back. With
// 0 it breaks that of the stream.
func (s *Store) Drop(handle uint64) {
	if t := s.of(handle); t != nil {
		t.end()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if handle == 0 && s.stream != nil {
		s.endStream(s.stream, errBroken)
	}
}

// RowLSN returns the position of the row's own record for a change that this store's
// streams have handed out, and "" for any other position.
func (s *Store) RowLSN(lsn string) string {
	at, err := parsePosition(lsn)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[at].text()
}

func (s *Store) of(handle uint64) *tx {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[handle]
}

// commitReader finds the record of a commit in the log.
type commitReader struct {
	mu    sync.Mutex
	asked bool
	from  string // what to select from, $1 is the LSN to begin at; "": nothing
}

// commitMark is what must be known before a commit to find its record.
type commitMark struct{ xid, lsn string }

// The functions of pg_walinspect for all that is in the log after an LSN: the first was
// there before PostgreSQL 16, and the second refuses the end of the log until then.
var walFunctions = map[string]string{
	"pg_get_wal_records_info_till_end_of_wal": "($1::text::pg_lsn)",
	"pg_get_wal_records_info":                 "($1::text::pg_lsn, 'FFFFFFFF/FFFFFFFF')",
}

// source says where the records of the log can be read, once it could be found out.
func (r *commitReader) source(ctx context.Context, conn *pgx.Conn) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked {
		return r.from
	}
	var schema, name string
	err := conn.QueryRow(ctx, `select quote_ident(nspname), proname from pg_proc p
		join pg_namespace n on n.oid = pronamespace where proname like 'pg_get_wal_records_info%'
		and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')
		order by proname desc limit 1`).Scan(&schema, &name)
	switch {
	case err == nil:
		r.from = schema + "." + name + walFunctions[name]
	case err != pgx.ErrNoRows:
		return ""
	}
	r.asked = true
	return r.from
}

// beforeCommit returns the zero value where the record will not be looked for.
func (s *Store) beforeCommit(ctx context.Context, conn *pgx.Conn) (m commitMark) {
	if s.commits.source(ctx, conn) == "" {
		return m
	}
	err := conn.QueryRow(ctx, `select coalesce(pg_current_xact_id_if_assigned()::xid::text, ''),
		pg_current_wal_insert_lsn()::text`).Scan(&m.xid, &m.lsn)
	if err != nil {
		return commitMark{} // and the commit will say the same
	}
	return m
}

// afterCommit returns where the commit is, "" where that cannot be found out: it is done
// all the same.
func (s *Store) afterCommit(ctx context.Context, conn *pgx.Conn, m commitMark) string {
	if m.xid == "" {
		return ""
	}
	var lsn pglogrepl.LSN
	err := conn.QueryRow(ctx, "select start_lsn::text from "+s.commits.source(ctx, conn)+
		" where xid = $2::text::xid and resource_manager = 'Transaction'"+
		" and record_type like 'COMMIT%' limit 1", m.lsn, m.xid).Scan(&lsn)
	if err != nil {
		return ""
	}
	return position{lsn: lsn}.text()
}
