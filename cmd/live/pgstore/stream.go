package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// KeepaliveEvery is how long a stream stays silent at most.
const KeepaliveEvery = 10 * time.Second

const (
	// asksEvery is how long a stream waits before it asks the server where it stands.
	asksEvery = KeepaliveEvery / 4
	// mostSilent is how many times in a row nothing may have come in KeepaliveEvery.
	mostSilent = 3
)

// stream is what a store reads from the slot.
type stream struct {
	conn     *pgconn.PgConn
	messages chan message
	gone     chan struct{}
	writing  sync.Mutex

	// For the goroutine that calls Next alone.
	decoder decoder
	queue   []streamed
	after   position // what is not after it is not handed out
	owes    bool     // changes were handed out after the last keepalive
	silent  int

	// Under the store's mutex.
	at      position      // what was handed out last, or was said to be passed
	stands  pglogrepl.LSN // everything that committed up to here was handed out
	flushed pglogrepl.LSN // what the server is told to be confirmed
	commits []commitEnd   // of what was handed out and is not confirmed, in order
}

// message is one of the server's, or the end of all.
type message struct {
	m   pgproto3.BackendMessage
	err error
}

// streamed is a change that waits to be handed out.
type streamed struct {
	at  position
	row rowChange
}

// commitEnd says where a transaction ends of which so many changes are streamed.
type commitEnd struct {
	lsn, end pglogrepl.LSN
	changes  uint32
}

// Stream begins to stream what is after the slot's confirmed position, after the last
// position that was confirmed through a store, and after from; an older one is ignored in
// silence. An earlier stream of the store ends first. While another one has the slot, and
// for a moment after the connection of its stream broke, the slot is active, which is an
// error.
//
// An error whose chain has SlotLost() true says that changes are gone: the slot was lost,
// is missing, was created anew after from, or was moved or created by somebody else than
// a store.
func (s *Store) Stream(ctx context.Context, from string) error {
	at, err := parsePosition(from)
	if err != nil {
		return err
	}
	return say(fmt.Sprintf("streaming from %q", from), s.begin(ctx, at))
}

func (s *Store) begin(ctx context.Context, from position) error {
	own := s.endOwn()
	st, err := s.stand(ctx, from)
	for err == nil && own != 0 && st.pid == own {
		if err = pauseFor(ctx); err == nil {
			st, err = s.stand(ctx, from)
		}
	}
	if err != nil {
		return err
	}
	config := s.config.Config.Copy()
	config.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	err = pglogrepl.StartReplication(ctx, conn, s.names.slot, st.after.lsn,
		pglogrepl.StartReplicationOptions{PluginArgs: []string{
			"proto_version '1'", "publication_names '" + s.names.publication + "'",
		}})
	var now standing
	if err == nil {
		// Whoever has the slot has it as it is: nobody can create it anew now.
		now, err = s.stand(ctx, from)
	}
	if err != nil {
		_ = conn.Conn().Close() // there is nothing more to say
		return s.startFailed(ctx, from, err)
	}
	return s.follow(conn, now)
}

// startFailed says what the server's answer to the start means.
func (s *Store) startFailed(ctx context.Context, from position, err error) error {
	switch answer := refused(err); {
	case answer == nil:
		return err
	case answer.Code == codeActive:
		return &Error{answer.Code, wordActive, answer.text}
	case answer.Code == codeMissing || answer.Code == codeState:
		if _, lost := s.stand(ctx, from); lost != nil {
			return lost
		}
	}
	return err
}

// endOwn ends the store's own stream and returns the server's process of it.
func (s *Store) endOwn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return 0
	}
	pid := int(s.stream.conn.PID())
	s.endStream(s.stream, errNoStream)
	return pid
}

// endStream breaks the connection of a stream. The store is locked.
func (s *Store) endStream(st *stream, err error) {
	if s.stream != st {
		return
	}
	s.stream, s.ended = nil, err
	close(st.gone)
	_ = st.conn.Conn().Close() // it has nothing more to say
}

// broke ends a stream and returns why.
func (s *Store) broke(st *stream, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endStream(st, err)
	return cmp.Or(s.ended, err)
}

// follow makes a connection the store's stream. It is read in a goroutine of its own,
// since a context that ends while it is read must not break it.
func (s *Store) follow(conn *pgconn.PgConn, now standing) error {
	st := &stream{
		conn: conn, messages: make(chan message), gone: make(chan struct{}),
		after: now.after, at: later(now.after, position{lsn: now.confirmed}),
		flushed: now.confirmed,
	}
	st.stands = st.at.lsn
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		_ = conn.Conn().Close() // nobody reads it
		return errClosed
	case s.stream != nil:
		s.endStream(s.stream, errNoStream)
	}
	s.stream = st
	s.confirmed = later(s.confirmed, st.at)
	go st.read()
	return nil
}

// read hands the server's messages over, one by one, until there are no more.
func (st *stream) read() {
	for {
		m, err := st.conn.ReceiveMessage(context.Background())
		if data, ok := m.(*pgproto3.CopyData); ok {
			m = &pgproto3.CopyData{Data: slices.Clone(data.Data)} // the next one overwrites it
		}
		select {
		case st.messages <- message{m, err}:
		case <-st.gone:
			return
		}
		if err != nil {
			return
		}
	}
}

// current returns the stream, or why there is none.
func (s *Store) current() (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return nil, cmp.Or(s.ended, errNoStream)
	}
	return s.stream, nil
}

// Next returns the next change in the order of commits: its position, its key and its
// value. With the key "" it is a keepalive: the position is where the server stands, and
// there is no change up to it that was not handed out. It comes after [KeepaliveEvery]
// at the latest, and as soon as the server says it after changes were handed out. A
// context that ends leaves the stream as it is.
//
// The server ends a stream whose client calls neither this nor Confirm for
// wal_sender_timeout, a minute by default.
func (s *Store) Next(ctx context.Context) (lsn, key string, value []byte, err error) {
	st, err := s.current()
	if err != nil {
		return "", "", nil, err
	}
	due := time.NewTimer(KeepaliveEvery)
	defer due.Stop()
	ask := time.NewTicker(asksEvery)
	defer ask.Stop()
	for quiet := true; len(st.queue) == 0; {
		select {
		case m := <-st.messages:
			stands, err := s.take(st, m)
			if err != nil {
				return "", "", nil, say("reading the stream", s.broke(st, err))
			}
			quiet, st.silent = false, 0
			if stands && st.owes {
				st.owes = false
				return s.pass(st), "", nil, nil
			}
		case <-ask.C:
			if err := s.tell(st, true); err != nil {
				return "", "", nil, say("reading the stream", s.broke(st, err))
			}
		case <-due.C:
			if quiet {
				st.silent++
			}
			if st.silent >= mostSilent {
				err := fmt.Errorf("the server has said nothing for %v", mostSilent*KeepaliveEvery)
				return "", "", nil, say("reading the stream", s.broke(st, err))
			}
			return s.pass(st), "", nil, nil
		case <-st.gone:
			_, err := s.current()
			return "", "", nil, cmp.Or(err, errNoStream)
		case <-ctx.Done():
			return "", "", nil, ctx.Err()
		}
	}
	return s.handOut(st)
}

// handOut returns the first change that waits.
func (s *Store) handOut(st *stream) (lsn, key string, value []byte, err error) {
	c := st.queue[0]
	st.queue, st.owes = st.queue[1:], true
	v := c.row.values
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return "", "", nil, cmp.Or(s.ended, errNoStream)
	}
	st.at = c.at
	s.rows[c.at] = position{c.row.row, c.at.nth}
	at := c.at.text()
	key = v["learner"] + "/" + v["course"]
	return at, key, valueOf(v["learner"], v["course"], v["op"], at), nil
}

// pass returns where the stream stands.
func (s *Store) pass(st *stream) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.at = later(st.at, position{lsn: st.stands})
	return st.at.text()
}

// take takes a message. stands: it says where the server is, which is after all that was
// handed out.
func (s *Store) take(st *stream, m message) (stands bool, err error) {
	if m.err != nil {
		return false, m.err
	}
	data, ok := m.m.(*pgproto3.CopyData)
	if !ok {
		if answer, ok := m.m.(*pgproto3.ErrorResponse); ok {
			return false, pgconn.ErrorResponseToPgError(answer)
		}
		return false, fmt.Errorf("%w: the server ended the stream", errBroken)
	}
	if len(data.Data) == 0 {
		return false, nil
	}
	switch data.Data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(data.Data[1:])
		if err != nil {
			return false, err
		}
		if k.ReplyRequested {
			if err := s.tell(st, false); err != nil {
				return false, err
			}
		}
		return st.decoder.open == nil && s.reached(st, k.ServerWALEnd), nil
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data.Data[1:])
		if err != nil {
			return false, err
		}
		c, err := st.decoder.take(x.WALData, x.WALStart)
		if c != nil {
			s.arrived(st, c)
		}
		return false, err
	}
	return false, nil
}

// reached notes where the server is. While it sends a transaction it may say what was
// before that.
func (s *Store) reached(st *stream, lsn pglogrepl.LSN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.stands = max(st.stands, lsn)
	return lsn > st.at.lsn
}

// arrived queues the changes of a transaction that is whole.
func (s *Store) arrived(st *stream, c *committed) {
	var nth uint32
	for _, row := range c.changes {
		if row.table != tap.Enrollments {
			continue
		}
		nth++
		if at := (position{c.lsn, nth}); at.compare(st.after) > 0 {
			st.queue = append(st.queue, streamed{at, row})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if nth > 0 {
		st.commits = append(st.commits, commitEnd{c.lsn, c.end, nth})
	}
}

// tell tells the server what is confirmed, and asks it where it stands.
func (s *Store) tell(st *stream, ask bool) error {
	st.writing.Lock()
	defer st.writing.Unlock()
	s.mu.Lock()
	upTo := st.flushed
	s.mu.Unlock()
	return pglogrepl.SendStandbyStatusUpdate(context.Background(), st.conn,
		pglogrepl.StandbyStatusUpdate{
			WALWritePosition: upTo, WALFlushPosition: upTo, WALApplyPosition: upTo,
			ReplyRequested: ask,
		})
}

// Confirm says that all up to lsn is durable elsewhere. It writes that into the table
// slot, and then tells the server: what the server forgets when it crashes does not come
// again. An older position than that is ignored, and so is what is after the last one
// that Next returned.
func (s *Store) Confirm(ctx context.Context, lsn string) error {
	at, err := parsePosition(lsn)
	if err != nil {
		return err
	}
	st, err := s.current()
	if err != nil {
		return err
	}
	s.mu.Lock()
	if st.at.compare(at) < 0 {
		at = st.at
	}
	upTo := max(st.flushed, st.ends(at))
	s.mu.Unlock()
	err = s.once(ctx, func(conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, s.names.sql(`update SCHEMA.slot set
			told = greatest(told, $1::text::pg_lsn), resume = greatest(resume, $2)
			where began is not null`), upTo.String(), at.text())
		if err == nil && tag.RowsAffected() != 1 {
			err = errMaking
		}
		return err
	})
	if err != nil {
		return say("confirming "+lsn, err)
	}
	s.mu.Lock()
	st.flushed = max(st.flushed, upTo)
	s.confirmed = later(s.confirmed, at)
	n := 0
	for n < len(st.commits) && st.commits[n].end <= st.flushed {
		n++
	}
	st.commits = st.commits[n:]
	s.mu.Unlock()
	if err := s.tell(st, false); err != nil {
		return say("confirming "+lsn, s.broke(st, err))
	}
	return nil
}

// ends returns up to which LSN everything is covered by a position.
func (st *stream) ends(at position) pglogrepl.LSN {
	for _, c := range st.commits {
		if c.lsn == at.lsn && at.nth >= c.changes {
			return c.end
		}
	}
	return at.lsn
}
