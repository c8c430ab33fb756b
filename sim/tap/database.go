package tap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/hopcheck/hopcheck/model"
)

// Database is a database with the tables enrollment and outbox and a replication
// slot, as hops see one. Simulation has one in memory, live mode one on PostgreSQL.
//
// A change's value is JSON: learner_id, course_id, op ("enrolled", "dropped") and
// source_lsn; its key is learner/course. A position is text that sorts as its order:
// 16 upper-case hex digits of the LSN, "/", 8 hex digits of the place inside the
// transaction; "" is none.
//
// An error means that the outcome is unknown, unless its chain has a method Refusal()
// string: that is the server's answer, and nothing was done. Whatever fails breaks its
// connection, so the transaction, claim or stream that it was about is gone.
type Database interface {
	// Begin opens a transaction.
	Begin(ctx context.Context) (tx uint64, err error)
	// Enroll upserts the row of learner and course, and waits for its lock.
	Enroll(ctx context.Context, tx uint64, learner, course, op string) error
	// Publish inserts the outbox row of a change. Its id is drawn now and is seen at
	// the commit.
	Publish(ctx context.Context, tx uint64, learner, course, op string) error
	Commit(ctx context.Context, tx uint64) error
	Rollback(ctx context.Context, tx uint64) error

	// Claim locks up to limit unpublished rows, oldest id first, without locked rows
	// and without rows of a key that another claim holds. Claim 0: nothing to do.
	Claim(ctx context.Context, limit int) (
		claim uint64, keys []string, values [][]byte, err error)
	// Mark marks the rows of a claim as published and commits.
	Mark(ctx context.Context, claim uint64) error
	// Release gives the rows of a claim back.
	Release(ctx context.Context, claim uint64) error

	// Stream begins to stream after the slot's confirmed position, or after from
	// where that is later. An error whose chain has SlotLost() bool returning true
	// says that changes are gone.
	Stream(ctx context.Context, from string) error
	// Next returns the next change in the order of commits, or a keepalive: key ""
	// and the position of the server. It returns within 10 s.
	Next(ctx context.Context) (lsn, key string, value []byte, err error)
	// Confirm says that all up to lsn is durable elsewhere.
	Confirm(ctx context.Context, lsn string) error
	// Slot returns the slot's state, "reserved", "unreserved", "lost" or "missing",
	// and in bytes what it retains of the log and how far it is behind.
	Slot(ctx context.Context) (state string, retained, lag int64, err error)
}

// DatabaseReads are reads and claims that a [Database] may offer besides. Right hops do
// without them: they are how wrong ones skip changes or reorder them.
type DatabaseReads interface {
	// After returns committed rows of the outbox with a greater id, published or not.
	After(ctx context.Context, last int64, limit int) (
		ids []int64, keys []string, values [][]byte, err error)
	// Horizon returns committed rows after (xid, id), of transactions that are older
	// than every open one.
	Horizon(ctx context.Context, xid uint64, id int64, limit int) (
		xids []uint64, ids []int64, keys []string, values [][]byte, err error)
	// ClaimRows is Claim that looks at locked rows alone, and not at their keys.
	ClaimRows(ctx context.Context, limit int) (
		claim uint64, keys []string, values [][]byte, err error)
	// RowLSN returns the position of the row's own record for the position of a
	// change; "" where it is not known. It is no statement and crosses no boundary.
	RowLSN(lsn string) string
}

// DatabaseWitness is what a [Database] may tell besides, so that a history can say more and
// a broken connection does to it what it does to a server. Its methods return at once.
type DatabaseWitness interface {
	// Committed returns the position of the commit of a transaction or claim, or "".
	Committed(handle uint64) string
	// Rows returns the outbox rows that a transaction inserted or a claim holds.
	Rows(handle uint64) (ids []int64, lsns []string)
	// Confirmed returns the slot's confirmed position.
	Confirmed() string
	// Drop breaks the connection of a transaction or claim, or with 0 the stream's.
	Drop(handle uint64)
}

// Tables, as the parts of a database's events name them. Their partition is 0, and
// the offset of a record is the row's id in the outbox.
const (
	Enrollments = "enrollment"
	Outbox      = "outbox"
)

// ErrNoReads is the error of a database that does not offer [DatabaseReads].
var ErrNoReads = errors.New("tap: this database offers no such read")

// tapped is a database whose calls cross the boundary of a life.
type tapped struct {
	life    *Life
	db      Database
	reads   DatabaseReads   // nil where db has none
	witness DatabaseWitness // nil where db is none

	mu  sync.Mutex
	did map[uint64]*did // by transaction and claim
}

// did is what one transaction or claim has done so far.
type did struct{ enrolled, outbox []model.Record }

// NewDatabase returns db seen through the boundary of life. It implements
// [DatabaseReads] too, with [ErrNoReads] where db does not. It is safe for concurrent use
// as far as db is.
//
// Every call is an event. Its Op is begin, enroll, publish, commit, rollback, claim,
// mark, release, stream, next, confirm or slot, and after or horizon. Its Key is
// learner/course, "outbox" or "slot". Its parts have the topics [Enrollments], one
// record per change with its position as ID, and [Outbox], one record per row with its
// id as offset and its source_lsn as ID; a record's Cell is the change's op. LSN is
// the position of a commit, a stream or a confirmation. Where db is no
// [DatabaseWitness], what only the server knows is left out.
func NewDatabase(life *Life, db Database) Database {
	t := &tapped{life: life, db: db, did: make(map[uint64]*did)}
	t.reads, _ = db.(DatabaseReads)
	t.witness, _ = db.(DatabaseWitness)
	return t
}

// cross takes a call over the boundary. handle says what breaks with its connection,
// once Apply has returned: nil is nothing.
func (t *tapped) cross(
	ctx context.Context, e model.Event,
	handle *uint64, apply func(context.Context, *model.Event) error,
) error {
	c := Call{Event: e, Apply: apply}
	if t.witness != nil && handle != nil {
		c.Broke = func() { t.witness.Drop(*handle) }
	}
	return t.life.Call(ctx, c)
}

// streaming is the handle of the stream's connection.
var streaming = new(uint64)

func (t *tapped) Begin(ctx context.Context) (uint64, error) {
	e := newEvent(model.Call, "begin", 0)
	tx := noHandle
	err := t.cross(ctx, e, &tx, func(ctx context.Context, e *model.Event) (err error) {
		tx, err = t.db.Begin(ctx)
		e.Note = number("tx", tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	return tx, nil
}

// noHandle is the handle of nothing.
const noHandle = ^uint64(0)

func number(what string, n uint64) string { return fmt.Sprintf("%s %d", what, n) }

// statement is the event of a statement about one row.
func statement(op string, tx uint64, table string, r model.Record) model.Event {
	e := newEvent(model.Call, op, 0)
	e.Key, e.Note = r.Key, number("tx", tx)
	e.Parts = parts(table, []model.Record{r})
	return e
}

// wanted is the record of a change that has no place yet.
func wanted(learner, course, op string) model.Record {
	return model.Record{Offset: -1, Key: learner + "/" + course, Cell: op}
}

func parts(table string, records []model.Record) []model.Part {
	if len(records) == 0 {
		return nil
	}
	p := model.PartOf(table, 0)
	p.Records = records
	return []model.Part{p}
}

func (t *tapped) Enroll(ctx context.Context, tx uint64, learner, course, op string) error {
	e := statement("enroll", tx, Enrollments, wanted(learner, course, op))
	return t.cross(ctx, e, &tx, func(ctx context.Context, e *model.Event) error {
		err := t.db.Enroll(ctx, tx, learner, course, op)
		if err == nil {
			t.add(tx, &e.Parts[0].Records[0], nil)
		}
		return err
	})
}

func (t *tapped) Publish(ctx context.Context, tx uint64, learner, course, op string) error {
	e := statement("publish", tx, Outbox, wanted(learner, course, op))
	return t.cross(ctx, e, &tx, func(ctx context.Context, e *model.Event) error {
		err := t.db.Publish(ctx, tx, learner, course, op)
		if err != nil {
			return err
		}
		r := e.Parts[0].Records[0]
		if t.witness != nil {
			if ids, lsns := t.witness.Rows(tx); len(ids) > 0 {
				r.Offset, r.ID = ids[len(ids)-1], lsns[len(lsns)-1]
			}
		}
		e.Parts = parts(Outbox, []model.Record{r}) // the call's event has its own
		t.add(tx, nil, &r)
		return nil
	})
}

// add remembers what a transaction did.
func (t *tapped) add(tx uint64, enrolled, outbox *model.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.did[tx]
	if d == nil {
		d = new(did)
		t.did[tx] = d
	}
	if enrolled != nil {
		d.enrolled = append(d.enrolled, *enrolled)
	}
	if outbox != nil {
		d.outbox = append(d.outbox, *outbox)
	}
}

// take returns what a transaction or claim did, as parts of its own, and forgets it.
func (t *tapped) take(handle uint64) []model.Part {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.did[handle]
	delete(t.did, handle)
	if d == nil {
		return nil
	}
	return append(parts(Enrollments, d.enrolled), parts(Outbox, d.outbox)...)
}

func (t *tapped) Commit(ctx context.Context, tx uint64) error {
	e := newEvent(model.Call, "commit", 0)
	e.Note, e.Parts = number("tx", tx), t.take(tx)
	return t.cross(ctx, e, &tx, func(ctx context.Context, e *model.Event) error {
		err := t.db.Commit(ctx, tx)
		if err != nil || t.witness == nil {
			return err
		}
		if e.LSN = t.witness.Committed(tx); e.LSN != "" {
			e.Parts = placed(e.Parts, e.LSN)
		}
		return nil
	})
}

// placed returns a copy of parts in which the changes of enrollment have the
// positions of their commit.
func placed(parts []model.Part, lsn string) []model.Part {
	parts = append([]model.Part(nil), parts...)
	for i := range parts {
		if parts[i].Topic != Enrollments || len(lsn) < lsnDigits {
			continue
		}
		records := append([]model.Record(nil), parts[i].Records...)
		for j := range records {
			records[j].ID = fmt.Sprintf("%s/%08X", lsn[:lsnDigits], j+1)
		}
		parts[i].Records = records
	}
	return parts
}

// lsnDigits is how many digits of a position are the LSN.
const lsnDigits = 16

func (t *tapped) Rollback(ctx context.Context, tx uint64) error {
	e := newEvent(model.Call, "rollback", 0)
	e.Note = number("tx", tx)
	t.take(tx)
	return t.cross(ctx, e, &tx, func(ctx context.Context, _ *model.Event) error {
		return t.db.Rollback(ctx, tx)
	})
}

func (t *tapped) Slot(ctx context.Context) (state string, retained, lag int64, err error) {
	e := newEvent(model.Call, "slot", 0)
	e.Key = "slot"
	var s string
	var r, l int64
	err = t.cross(ctx, e, nil, func(ctx context.Context, e *model.Event) (err error) {
		s, r, l, err = t.db.Slot(ctx)
		e.Note = s
		e.Counts = []model.Count{{Of: "retained", N: r}, {Of: "lag", N: l}}
		return err
	})
	if err != nil {
		return "", 0, 0, err
	}
	return s, r, l, nil
}

// changes returns the records of changes, as their values name them.
func changes(keys []string, values [][]byte) []model.Record {
	var records []model.Record
	for i, value := range values {
		var v struct {
			Op  string `json:"op"`
			LSN string `json:"source_lsn"`
		}
		// A value that is no such JSON is a record without an identity.
		_ = json.Unmarshal(value, &v)
		records = append(records, model.Record{
			Offset: -1, ID: v.LSN, Key: keys[i], Cell: v.Op, Digest: Digest(value),
		})
	}
	return records
}
