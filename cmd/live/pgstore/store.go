package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// Store is what one process has of a run's database: its transactions, its claims, its
// stream. It is safe for concurrent use, except that Next is for one goroutine; a
// transaction and a claim do one thing at a time. It survives a crash of the server: what
// was open in it does not.
type Store struct {
	names  names
	config *pgx.ConnConfig

	sockets sockets
	commits commitReader

	mu        sync.Mutex
	closed    bool
	idle      []*pgx.Conn
	handles   uint64
	all       map[uint64]*tx // every transaction and claim, ended ones too
	stream    *stream
	ended     error                 // why the last stream ended
	confirmed position              // as far as this process knows
	rows      map[position]position // of changes: that of the row's own record
}

var (
	_ tap.Database        = (*Store)(nil)
	_ tap.DatabaseReads   = (*Store)(nil)
	_ tap.DatabaseWitness = (*Store)(nil)
)

// mostIdle bounds the connections that are kept for the next transaction.
const mostIdle = 8

// New returns a store for the run that [Create] made. It connects to nothing yet, and
// fails when the configuration cannot work.
func New(c Config) (*Store, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	if c.URL == "" { // libpq's defaults are some database
		return nil, errors.New("opening the database: want a connection string (DATABASE_URL)")
	}
	config, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	s := &Store{
		names: names, config: config, sockets: sockets{all: make(map[net.Conn]bool)},
		all: make(map[uint64]*tx), rows: make(map[position]position),
	}
	config.RuntimeParams["application_name"] = "hopcheck " + c.Prefix
	config.RuntimeParams["synchronous_commit"] = "on" // a commit is durable
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return s.sockets.add(conn)
	}
	return s, nil
}

// sockets are the connections that are open.
type sockets struct {
	mu     sync.Mutex
	closed bool
	all    map[net.Conn]bool
}

// socket is one of them.
type socket struct {
	net.Conn
	of *sockets
}

func (s *sockets) add(conn net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close() // nothing was sent
		return nil, errClosed
	}
	s.all[conn] = true
	return &socket{conn, s}, nil
}

// Close closes the connection, and forgets it.
func (c *socket) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for conn := range s.all {
		_ = conn.Close() // what it has to say is that it is gone
	}
	clear(s.all)
}

// Close ends the store as the death of its process does: connections break, so that
// the server rolls transactions back and releases claims, and calls that wait return.
func (s *Store) Close() {
	s.sockets.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.idle = true, nil
	if s.stream != nil {
		s.endStream(s.stream, errClosed)
	}
}

func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, s.config.Copy())
}

// began gives a connection on which the statement has been done, one that was left if
// there is one. That the server may have closed those meanwhile is no failure of the
// statement, which must be one to begin with.
func (s *Store) began(ctx context.Context, statement string) (*pgx.Conn, error) {
	for {
		s.mu.Lock()
		var conn *pgx.Conn
		if n := len(s.idle); n > 0 {
			conn, s.idle = s.idle[n-1], s.idle[:n-1]
		}
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return nil, errClosed
		}
		if conn == nil {
			break
		}
		if _, err := conn.Exec(ctx, statement); err == nil {
			return conn, nil
		}
		hangUp(conn)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		hangUp(conn)
		return nil, err
	}
	return conn, nil
}

// keep leaves a connection on which no transaction is open for the next one.
func (s *Store) keep(conn *pgx.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || conn.IsClosed() || len(s.idle) >= mostIdle {
		hangUp(conn)
		return
	}
	s.idle = append(s.idle, conn)
}

// hangUp breaks a connection, whoever is using it.
func hangUp(conn *pgx.Conn) { _ = conn.PgConn().Conn().Close() }

// once has a connection for one or more statements that belong to no transaction.
func (s *Store) once(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := s.began(ctx, "")
	if err != nil {
		return err
	}
	if err := do(conn); err != nil {
		hangUp(conn)
		return err
	}
	s.keep(conn)
	return nil
}
