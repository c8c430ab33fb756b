package pgstore

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// Enrollment is a committed row of enrollment.
type Enrollment struct {
	Learner, Course string
	Op              string // of the last commit that wrote it
	LSN             string // position of that change
}

// Published is a committed row of the outbox.
type Published struct {
	ID     int64
	Key    string // learner/course
	Op     string
	Source string // its source_lsn: where the log stood when it was inserted
	Commit string // position of the commit of its transaction
	Done   bool   // it is marked as published
}

// SlotInfo is what the server knows of the slot. The positions are "" where there is no
// slot; the rest is in bytes, as [Store.Slot] returns it.
type SlotInfo struct {
	State              string
	Confirmed, Restart string
	Retained, Lag      int64
}

// Tables is what an audit reads of a run's database.
type Tables struct {
	Enrollments []Enrollment // in the order of their first write
	Outbox      []Published  // in the order of their ids
	Slot        SlotInfo
	// Log says that the log of the whole run could be read. Where not, LSN and Commit are
	// "", and the rows of enrollment in the order of their keys.
	Log bool
}

// Audit reads the tables and the slot, and the log of the whole run from a slot that
// nothing else reads, so that it depends on nothing that a hop or a stream has said. What
// commits meanwhile may be in one of them and not in another.
func (s *Store) Audit(ctx context.Context) (Tables, error) {
	var t Tables
	err := s.once(ctx, func(conn *pgx.Conn) error {
		log, err := s.readLog(ctx, conn)
		if err != nil {
			return err
		}
		t.Log = log != nil
		if t.Enrollments, err = s.enrollments(ctx, conn, log); err != nil {
			return err
		}
		if t.Outbox, err = s.published(ctx, conn, log); err != nil {
			return err
		}
		r, err := readSlot(ctx, conn, s.names.slot)
		t.Slot = SlotInfo{
			State: r.state(), Confirmed: position{lsn: r.confirmed}.text(),
			Restart: position{lsn: r.restart}.text(),
		}
		t.Slot.Retained, t.Slot.Lag = r.retained()
		return err
	})
	return t, say("auditing the database", err)
}

// runLog is what the log of a run says.
type runLog struct {
	first  map[string]int      // by key: how many keys were written before
	last   map[string]position // by key: its last change
	outbox map[int64]position  // by id: the commit
}

// readLog returns nil where the audit's slot is lost.
func (s *Store) readLog(ctx context.Context, conn *pgx.Conn) (*runLog, error) {
	r, err := readSlot(ctx, conn, s.names.auditSlot)
	if err != nil || r.state() == "missing" || r.state() == "lost" {
		return nil, err
	}
	log := &runLog{
		first: make(map[string]int), last: make(map[string]position),
		outbox: make(map[int64]position),
	}
	rows, err := conn.Query(ctx, `select lsn::text, data
		from pg_logical_slot_peek_binary_changes($1, null, null,
			'proto_version', '1', 'publication_names', $2)`, s.names.auditSlot, s.names.audited)
	if err != nil {
		return nil, err
	}
	var d decoder
	var lsn pglogrepl.LSN
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&lsn, &data}, func() error {
		c, err := d.take(data, lsn)
		if c != nil {
			log.add(c)
		}
		return err
	})
	return log, err
}

func (l *runLog) add(c *committed) {
	var nth uint32
	for _, row := range c.changes {
		switch {
		case row.table == tap.Enrollments:
			nth++
			key := row.values["learner"] + "/" + row.values["course"]
			if _, ok := l.first[key]; !ok {
				l.first[key] = len(l.first)
			}
			l.last[key] = position{c.lsn, nth}
		case row.table == tap.Outbox && row.insert:
			if id, err := strconv.ParseInt(row.values["id"], 10, 64); err == nil {
				l.outbox[id] = position{lsn: c.lsn}
			}
		}
	}
}

func (s *Store) enrollments(
	ctx context.Context, conn *pgx.Conn, log *runLog,
) ([]Enrollment, error) {
	rows, err := conn.Query(ctx, s.names.sql("select learner, course, op "+
		`from SCHEMA.enrollment order by learner collate "C", course collate "C"`))
	if err != nil {
		return nil, err
	}
	var all []Enrollment
	var e Enrollment
	_, err = pgx.ForEachRow(rows, []any{&e.Learner, &e.Course, &e.Op}, func() error {
		if e.LSN = ""; log != nil {
			e.LSN = log.last[e.Learner+"/"+e.Course].text()
		}
		all = append(all, e)
		return nil
	})
	if log != nil {
		slices.SortStableFunc(all, func(a, b Enrollment) int {
			return cmp.Compare(log.first[a.Learner+"/"+a.Course], log.first[b.Learner+"/"+b.Course])
		})
	}
	return all, err
}

func (s *Store) published(
	ctx context.Context, conn *pgx.Conn, log *runLog,
) ([]Published, error) {
	rows, err := conn.Query(ctx, s.names.sql(
		"select id, key, op, source_lsn, published from SCHEMA.outbox order by id"))
	if err != nil {
		return nil, err
	}
	var all []Published
	var p Published
	_, err = pgx.ForEachRow(rows, []any{&p.ID, &p.Key, &p.Op, &p.Source, &p.Done}, func() error {
		if p.Commit = ""; log != nil {
			p.Commit = log.outbox[p.ID].text()
		}
		all = append(all, p)
		return nil
	})
	return all, err
}
