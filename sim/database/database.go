package database

import (
	"sync"
	"time"
)

// house: virtual clock because this runs in a bubble, where time.Now is the world's.

// Times of the server, virtual; the defaults of PostgreSQL.
const (
	// KeepaliveEvery is how long a stream stays silent at most.
	KeepaliveEvery = 10 * time.Second
	// snapshotEvery is how often the server logs which transactions run, which is
	// what lets a slot give log back.
	snapshotEvery = 15 * time.Second
	// lingers is how long a slot stays active after its connection broke.
	lingers = 200 * time.Millisecond
)

// Bytes in the log.
const (
	firstLSN    = 0x1000000
	recordBytes = 64 // of a record without a row: a commit, a snapshot
)

// Config says how a server is set up. The zero value is useful.
type Config struct {
	// RowBytes is what a row that is written takes in the log, in bytes; 0: 256.
	RowBytes int64
	// Background is what other applications write to the log, in bytes per virtual
	// second. It is what a slot retains of a quiet table.
	Background int64
	// Keep is max_slot_wal_keep_size in bytes: what a slot may retain before the
	// next checkpoint takes it away. 0: no limit.
	Keep int64
	// CheckpointEvery is checkpoint_timeout; 0: 5 minutes.
	CheckpointEvery time.Duration
	// SenderTimeout is wal_sender_timeout: a stream whose client says nothing for
	// longer ends as soon as another one asks for the slot; 0: 1 minute.
	SenderTimeout time.Duration
	// NoSlot leaves the slot out: its state is "missing".
	NoSlot bool
}

// DB is a server. It is safe for concurrent use; its methods are what its operator
// can do. Programs use it through a [Session].
type DB struct {
	cfg   Config
	began time.Time

	mu      sync.Mutex
	end     uint64        // of the log
	flowed  time.Duration // until when Background is in it
	handles uint64        // last transaction or claim
	xid     uint64        // last transaction that wrote
	id      int64         // last of the outbox's sequence
	logged  int64         // how far the log says that the sequence may be
	open    []*tx         // in order of their beginning
	rows    map[string]*row
	order   []*row // rows in order of their first write
	outbox  []*outboxRow
	commits []*commit
	changes []change

	slot           slot
	snapped        uint64  // end of the log after the last snapshot
	stream         *stream // which has the slot
	lingering      time.Duration
	nextSnapshot   time.Duration
	nextCheckpoint time.Duration
}

// New returns a running server with empty tables and, unless c says otherwise, a
// slot. Its clock starts now.
func New(c Config) *DB {
	if c.RowBytes == 0 {
		c.RowBytes = 256
	}
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = 5 * time.Minute
	}
	if c.SenderTimeout == 0 {
		c.SenderTimeout = time.Minute
	}
	db := &DB{
		cfg: c, began: time.Now(), end: firstLSN, rows: make(map[string]*row),
		nextSnapshot: snapshotEvery, nextCheckpoint: c.CheckpointEvery,
	}
	if !c.NoSlot {
		db.slot = newSlot(db.end)
	}
	return db
}

// Session returns the connections of one process. It survives a crash of the server
// as a pool does that connects again; what was open in it does not.
func (db *DB) Session() *Session {
	return &Session{db: db, all: make(map[uint64]*tx)}
}

// Session is what one process has of a database: its transactions, its claims, its
// stream. It is safe for concurrent use, except that Next is for one goroutine.
type Session struct {
	db     *DB
	closed bool           // these under db.mu
	all    map[uint64]*tx // every transaction and claim, ended ones too
	stream *stream
	ended  error // why its last stream ended
}

// Close ends the session as the death of its process does: transactions are rolled
// back, claims released, the stream ends, and calls that wait return.
func (s *Session) Close() {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.closed {
		return
	}
	s.db.tick()
	s.closed = true
	s.db.abandon(func(t *tx) bool { return t.session == s }, errClosed)
	if s.stream != nil {
		s.db.endStream(s.stream, errClosed)
		s.db.lingering = s.db.now() + lingers
	}
}

func (db *DB) now() time.Duration { return time.Since(db.began) }

// begin takes the lock for a statement of s; every error means that it was not begun.
func (s *Session) begin() error {
	s.db.mu.Lock()
	if s.closed {
		s.db.mu.Unlock()
		return errClosed
	}
	s.db.tick()
	return nil
}

// tick does what the server would have done by itself since the last look.
func (db *DB) tick() {
	now := db.now()
	for {
		next := min(db.nextSnapshot, db.nextCheckpoint)
		if next > now {
			break
		}
		db.flow(next)
		if next == db.nextSnapshot {
			db.nextSnapshot += snapshotEvery
			db.snapshot()
		} else {
			db.nextCheckpoint += db.cfg.CheckpointEvery
			db.checkpoint()
		}
	}
	db.flow(now)
}

// flow has others write to the log until then. Whole seconds alone: what a log holds
// must not depend on how often somebody looked.
func (db *DB) flow(until time.Duration) {
	n := int64((until - db.flowed) / time.Second)
	db.flowed += time.Duration(n) * time.Second
	db.end += uint64(n * db.cfg.Background)
}

// write appends a record to the log and returns where it begins.
func (db *DB) write(bytes int64) uint64 {
	lsn := db.end
	db.end += uint64(max(bytes, 1))
	return lsn
}
