//go:build live && linux

package main

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

// postgres has a committed row and a logical slot outlive a SIGKILL of the server.
func postgres(t *testing.T, s *stack.Stack) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	url := variable(t, s, "DATABASE_URL")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"create table outbox (id bigint primary key)",
		"select pg_create_logical_replication_slot('probe', 'pgoutput')",
		"insert into outbox values (1)",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := s.Kill(ctx, "postgres"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "select 1"); err == nil {
		t.Error("a query was answered by a server that was killed")
	}
	if err := s.Start(ctx, "postgres"); err != nil {
		t.Fatal(err)
	}
	conn, err = pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var rows, slots int
	err = conn.QueryRow(ctx, `select (select count(*) from outbox),
		(select count(*) from pg_replication_slots where slot_name = 'probe')`).Scan(&rows, &slots)
	if err != nil || rows != 1 || slots != 1 {
		t.Errorf("after a kill: %d rows, %d slots, %v, want one of each", rows, slots, err)
	}
	databases(t, serverOf(t, s))
}

func variable(t *testing.T, s *stack.Stack, name string) string {
	t.Helper()
	st := stateOf(t, s)
	for _, v := range st.Environment() {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("no %s in the environment", name)
	return ""
}
