package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// DatabaseServer is a database under test, and what its owner can do to it. Where a
// function is nil, the sentences that need it are skipped.
type DatabaseServer struct {
	// Session opens what one process has of the database; end ends it as the death of
	// that process does, and may be called more than once. A session that is a
	// [tap.DatabaseReads] is tested as one.
	Session func() (db tap.Database, end func())
	// Crash kills the server and returns when sessions can use it again.
	Crash func()
	// Checkpoint has the server write a checkpoint.
	Checkpoint func()
	// Overfill writes to the log more than a slot may retain, by something that is in
	// no stream.
	Overfill func()
	// DropSlot removes the slot, and CreateSlot creates it.
	DropSlot, CreateSlot func()
	// Wait lets time pass, and Soon is how long anything takes at most that happens
	// without waiting for anybody. A keepalive may take 10 s more.
	Wait func(time.Duration)
	Soon time.Duration
}

// Database tests what [tap.Database] promises. For each sentence it calls fresh for a
// server with empty tables and a slot from which nothing was read; fresh may end the
// test. It does so inside in, for a clock of its own; nil is a plain call. Nothing is
// read from a clock but through contexts with a time limit and Wait.
func Database(
	t *testing.T, in func(*testing.T, func(*testing.T)),
	fresh func(*testing.T) DatabaseServer,
) {
	if in == nil {
		in = func(t *testing.T, test func(*testing.T)) { test(t) }
	}
	for _, s := range slices.Concat(transactions, outbox, streams, slots) {
		t.Run(s.name, func(t *testing.T) {
			in(t, func(t *testing.T) { s.test(&server{T: t, DatabaseServer: fresh(t)}) })
		})
	}
}

type databaseSentence struct {
	name string
	test func(*server)
}

// server is a database under test. What its calls return as an error ends the test.
type server struct {
	*testing.T
	DatabaseServer
}

// keepalive is how long a stream may stay silent.
const keepalive = 10 * time.Second

// client is a process of the database.
type client struct {
	*server
	db  tap.Database
	end func()
}

func (s *server) client() *client {
	db, end := s.Session()
	s.Cleanup(end)
	return &client{server: s, db: db, end: end}
}

// reads returns the client's reads, and skips the sentence where there are none.
func (c *client) reads() tap.DatabaseReads {
	reads, ok := c.db.(tap.DatabaseReads)
	if !ok {
		c.Skip("the database offers no such read")
	}
	return reads
}

// ctx bounds what must happen without waiting for anybody.
func (s *server) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), s.Soon)
	s.Cleanup(cancel)
	return ctx
}

// must ends the test at an error.
func (s *server) must(what string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// within tries until there is no error or it has taken too long.
func (s *server) within(what string, try func() error) {
	s.Helper()
	const steps = 20
	var err error
	for range steps {
		if err = try(); err == nil {
			return
		}
		s.Wait(s.Soon / steps)
	}
	s.Fatalf("%s, in %v: %v", what, s.Soon, err)
}

func (c *client) begin() uint64 {
	c.Helper()
	tx, err := c.db.Begin(c.ctx())
	c.must("begin", err)
	return tx
}

// enroll and publish take "learner/course".
func (c *client) enroll(tx uint64, key, op string) {
	c.Helper()
	learner, course, _ := strings.Cut(key, "/")
	c.must("enroll "+key, c.db.Enroll(c.ctx(), tx, learner, course, op))
}

func (c *client) publish(tx uint64, key, op string) {
	c.Helper()
	learner, course, _ := strings.Cut(key, "/")
	c.must("publish "+key, c.db.Publish(c.ctx(), tx, learner, course, op))
}

func (c *client) commit(tx uint64) {
	c.Helper()
	c.must("commit", c.db.Commit(c.ctx(), tx))
}

// change makes and commits one change of each key, one transaction each.
func (c *client) change(keys ...string) {
	c.Helper()
	for _, key := range keys {
		tx := c.begin()
		c.enroll(tx, key, "enrolled")
		c.publish(tx, key, "enrolled")
		c.commit(tx)
	}
}

// waiting is a call that should not return yet.
type waiting struct {
	*server
	done chan error
}

func (s *server) start(call func() error) waiting {
	w := waiting{s, make(chan error, 1)}
	go func() { w.done <- call() }()
	return w
}

// waits wants the call not to have returned after a while.
func (w waiting) waits() {
	w.Helper()
	w.Wait(w.Soon / 10)
	select {
	case err := <-w.done:
		w.Fatalf("it did not wait: it returned %v", err)
	default:
	}
}

// returns wants the call to return soon, and returns its error.
func (w waiting) returns() error {
	w.Helper()
	select {
	case err := <-w.done:
		return err
	case <-w.ctx().Done():
		w.Fatalf("it has not returned in %v", w.Soon)
		return nil
	}
}

// published is a change as its value says it.
type published struct {
	Learner string `json:"learner_id"`
	Course  string `json:"course_id"`
	Op      string `json:"op"`
	LSN     string `json:"source_lsn"`
}

// parse wants a value to be the JSON of a change of key.
func (s *server) parse(key string, value []byte) published {
	s.Helper()
	var p published
	if err := json.Unmarshal(value, &p); err != nil {
		s.Fatalf("the value of %s is %q: %v", key, value, err)
	}
	if p.Learner+"/"+p.Course != key {
		s.Errorf("a change of %s has the key %s", p.Learner+"/"+p.Course, key)
	}
	if !sortable(p.LSN) {
		s.Errorf("the position %q is not 16 hex digits, a slash and 8 more", p.LSN)
	}
	return p
}

func sortable(lsn string) bool {
	const digits = "0123456789ABCDEF"
	l, n, ok := strings.Cut(lsn, "/")
	return ok && len(l) == 16 && len(n) == 8 && strings.Trim(l+n, digits) == ""
}

// slotLost reports whether an error says that changes are gone.
func slotLost(err error) bool {
	var lost interface{ SlotLost() bool }
	return errors.As(err, &lost) && lost.SlotLost()
}

func (s *server) same(what string, got, want []string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("%s: %s, not %s", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}
