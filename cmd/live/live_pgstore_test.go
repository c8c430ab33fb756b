//go:build live && linux

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hopcheck/hopcheck/cmd/live/pgstore"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/sim/contract"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// realServer is a PostgreSQL that a test may kill.
type realServer struct {
	url         string
	kill, start func(context.Context) error
}

func serverOf(t *testing.T, s *stack.Stack) realServer {
	return realServer{
		url:   variable(t, s, "DATABASE_URL"),
		kill:  func(ctx context.Context) error { return s.Kill(ctx, "postgres") },
		start: func(ctx context.Context) error { return s.Start(ctx, "postgres") },
	}
}

// soon bounds what PostgreSQL does by itself on a busy machine. It finds a deadlock after
// a second, its deadlock_timeout.
const soon = 15 * time.Second

func databases(t *testing.T, r realServer) {
	t.Run("contract", func(t *testing.T) { keepsContract(t, r) })
	t.Run("claims", func(t *testing.T) { claimsInOrder(t, r) })
	t.Run("passed row", func(t *testing.T) { passedRow(t, r) })
	t.Run("answers", func(t *testing.T) { answers(t, r) })
	t.Run("slots", func(t *testing.T) { slotByHand(t, r) })
	t.Run("resume", func(t *testing.T) { resumes(t, r) })
	t.Run("audit", func(t *testing.T) { audits(t, r) })
	t.Run("room", func(t *testing.T) { makesRoom(t, r) })
}

// keepsContract holds the store to what the database in memory is held to.
func keepsContract(t *testing.T, r realServer) {
	runs := 0
	contract.Database(t, nil, func(t *testing.T) contract.DatabaseServer {
		runs++
		c := pgstore.Config{URL: r.url, Prefix: fmt.Sprintf("contract_%d", runs)}
		r.create(t, c)
		owner := connected(t, c)
		return contract.DatabaseServer{
			Session: func() (tap.Database, func()) {
				s := connected(t, c)
				return s, s.Close
			},
			Crash:      func() { r.crash(t) },
			Checkpoint: func() { r.exec(t, "checkpoint") },
			Overfill:   func() { r.overfill(t) },
			DropSlot:   func() { must(t, owner.DropSlot(t.Context())) },
			CreateSlot: func() { must(t, owner.CreateSlot(t.Context())) },
			Wait:       time.Sleep, Soon: soon,
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connected(t *testing.T, c pgstore.Config) *pgstore.Store {
	t.Helper()
	s, err := pgstore.New(c)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// create makes what a run needs, and removes it after the test.
func (r realServer) create(t *testing.T, c pgstore.Config) {
	t.Helper()
	must(t, pgstore.Create(t.Context(), c))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		must(t, pgstore.Drop(ctx, c))
	})
}

func (r realServer) crash(t *testing.T) {
	t.Helper()
	must(t, r.kill(t.Context()))
	must(t, r.start(t.Context()))
}

// ask has the database's owner ask for one text.
func (r realServer) ask(t *testing.T, sql string, args ...any) (text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.url)
	must(t, err)
	defer conn.Close(ctx)
	must(t, conn.QueryRow(ctx, sql, args...).Scan(&text))
	return text
}

func (r realServer) exec(t *testing.T, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.url)
	must(t, err)
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// overfill has slots keep one segment of the log and begins a few more.
func (r realServer) overfill(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		r.exec(t, "alter system reset max_slot_wal_keep_size", "select pg_reload_conf()")
	})
	r.exec(t, "alter system set max_slot_wal_keep_size = '16MB'", "select pg_reload_conf()")
	for range 6 {
		r.exec(t, "select pg_logical_emit_message(false, 'test', 'x')", "select pg_switch_wal()")
	}
}
