//go:build live && linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hopcheck/hopcheck/cmd/live/pgstore"
)

// What PostgreSQL does besides what every database must.

// writes makes and commits one change.
func writes(ctx context.Context, s *pgstore.Store, learner, op string) (tx uint64, err error) {
	if tx, err = s.Begin(ctx); err != nil {
		return 0, err
	}
	if err = s.Enroll(ctx, tx, learner, "go", op); err == nil {
		err = s.Publish(ctx, tx, learner, "go", op)
	}
	if err == nil {
		err = s.Commit(ctx, tx)
	}
	return tx, err
}

func sourceOf(t *testing.T, value []byte) string {
	var v struct {
		LSN string `json:"source_lsn"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		t.Errorf("the value %q: %v", value, err)
	}
	return v.LSN
}

// claimsInOrder has pollers publish a few keys that all write, and give up every third
// claim. Of no key a change may be published before an older one.
func claimsInOrder(t *testing.T, r realServer) {
	c := pgstore.Config{URL: r.url, Prefix: "claims"}
	r.create(t, c)
	const writers, each, pollers, keys = 3, 100, 4, 3
	var left atomic.Int64
	left.Store(writers * each)
	var mu sync.Mutex
	topic, given := make(map[string][]string), 0
	var all sync.WaitGroup
	for w := range writers {
		s := connected(t, c)
		all.Go(func() {
			for i := range each {
				learner := fmt.Sprintf("l%d", (w+i)%keys)
				if _, err := writes(t.Context(), s, learner, "enrolled"); err != nil {
					t.Errorf("writing: %v", err)
					left.Add(-1)
				}
			}
		})
	}
	for p := range pollers {
		s := connected(t, c)
		all.Go(func() {
			for n := p; left.Load() > 0 && t.Context().Err() == nil; n++ {
				claim, names, values, err := s.Claim(t.Context(), 1+n%4)
				if err != nil {
					t.Errorf("claiming: %v", err)
					return
				}
				if claim == 0 {
					continue
				}
				if n%3 == 0 {
					err = s.Release(t.Context(), claim)
					mu.Lock()
					given++
					mu.Unlock()
				} else {
					mu.Lock()
					for i, name := range names {
						topic[name] = append(topic[name], sourceOf(t, values[i]))
					}
					mu.Unlock()
					err = s.Mark(t.Context(), claim)
					left.Add(-int64(len(names)))
				}
				if err != nil {
					t.Errorf("ending a claim: %v", err)
					return
				}
			}
		})
	}
	all.Wait()
	n := 0
	for name, lsns := range topic {
		n += len(lsns)
		if sorted := slices.Sorted(slices.Values(lsns)); !slices.Equal(sorted, lsns) {
			t.Errorf("the changes of %s were published in the order %v", name, lsns)
		}
	}
	if n != writers*each || given == 0 {
		t.Errorf("%d changes were published of %d, and %d claims released", n, writers*each, given)
	}
}

// passedRow has a claim be rolled back while another poller is behind its row and before
// the next one of its key, which takes long as many rows of a busy key are between: it
// must not have the second without the first.
func passedRow(t *testing.T, r realServer) {
	c := pgstore.Config{URL: r.url, Prefix: "passed"}
	r.create(t, c)
	ctx := t.Context()
	a, b, p := connected(t, c), connected(t, c), connected(t, c)
	_, err := writes(ctx, a, "l", "enrolled")
	must(t, err)
	r.exec(t, `insert into passed.outbox (learner, course, op, source_lsn)
		select 'busy', 'go', 'enrolled', '0' from generate_series(1, 20000)`)
	_, err = writes(ctx, a, "l", "dropped")
	must(t, err)
	claim := func(s *pgstore.Store, limit int) (claim uint64, keys []string, values [][]byte) {
		claim, keys, values, err := s.Claim(ctx, limit)
		if err != nil {
			t.Errorf("claiming: %v", err)
		}
		return claim, keys, values
	}
	first, _, values := claim(a, 1)
	if _, keys, _ := claim(b, 1); len(keys) != 1 || keys[0] != "busy/go" {
		t.Fatalf("the rows between are not claimed: %v", keys)
	}
	for round := range 30 {
		var all sync.WaitGroup
		all.Go(func() {
			got, keys, second := claim(p, 10)
			if len(keys) > 0 && (len(keys) != 2 || string(second[0]) != string(values[0])) {
				t.Errorf("claimed %v: %s", keys, second)
			}
			if err := p.Release(ctx, got); err != nil {
				t.Errorf("releasing: %v", err)
			}
		})
		for range round % 10 { // for as long as it takes to ask
			_, _, _, err := a.Slot(ctx)
			must(t, err)
		}
		must(t, a.Release(ctx, first))
		all.Wait()
		first, _, _ = claim(a, 1)
	}
}

func refusal(err error) string {
	var r interface{ Refusal() string }
	if !errors.As(err, &r) {
		return ""
	}
	return r.Refusal()
}

// answers: what the server refuses is not done; what it says when it hangs up leaves the
// outcome open.
func answers(t *testing.T, r realServer) {
	c := pgstore.Config{URL: r.url, Prefix: "answers"}
	r.create(t, c)
	a, b := connected(t, c), connected(t, c)
	ctx := t.Context()
	tx, err := a.Begin(ctx)
	must(t, err)
	must(t, a.Enroll(ctx, tx, "l", "go", "enrolled"))
	r.exec(t, `select pg_terminate_backend(pid) from pg_stat_activity
		where application_name = 'hopcheck answers' and state = 'idle in transaction'`)
	if err := a.Commit(ctx, tx); err == nil || refusal(err) != "" {
		t.Errorf("a commit on a connection that the server closed: %v, %q", err, refusal(err))
	}
	tx, err = a.Begin(ctx)
	must(t, err)
	err = a.Enroll(ctx, tx, "l\x00", "go", "enrolled")
	if refusal(err) != "sqlstate-22021" {
		t.Errorf("a byte that no text has: %v", err)
	}
	if err := a.Commit(ctx, tx); refusal(err) != "aborted" {
		t.Errorf("the commit after an error: %v", err)
	}
	must(t, a.Stream(ctx, ""))
	err = b.Stream(ctx, "")
	var active interface{ SlotActive() bool }
	if !errors.As(err, &active) || !active.SlotActive() || refusal(err) != "slot-active" {
		t.Errorf("a second stream: %v", err)
	}
	must(t, a.Stream(ctx, "")) // its own one ends first
	a.Drop(0)
	if _, _, _, err := a.Next(ctx); err == nil || refusal(err) != "" {
		t.Errorf("next of a stream whose connection broke: %v", err)
	}
}

func lostSlot(err error) bool {
	var lost interface{ SlotLost() bool }
	return errors.As(err, &lost) && lost.SlotLost()
}

// slotByHand: a slot that somebody creates anew, or moves, with SQL has lost changes, and
// a stream says so from whatever position.
func slotByHand(t *testing.T, r realServer) {
	for name, sql := range map[string][]string{
		"created": {
			"select pg_drop_replication_slot('byhand_changes')",
			"select pg_create_logical_replication_slot('byhand_changes', 'pgoutput')",
		},
		"moved": {"select pg_replication_slot_advance('byhand_changes', pg_current_wal_lsn())"},
	} {
		t.Run(name, func(t *testing.T) {
			c := pgstore.Config{URL: r.url, Prefix: "byhand"}
			r.create(t, c)
			s := connected(t, c)
			_, err := writes(t.Context(), s, "l", "enrolled")
			must(t, err)
			r.exec(t, sql...)
			if err := s.Stream(t.Context(), ""); !lostSlot(err) {
				t.Errorf("a stream of it: %v", err)
			}
			must(t, s.CreateSlot(t.Context())) // whoever does this knows
			must(t, s.Stream(t.Context(), ""))
		})
	}
}

// resumes: what was confirmed does not come again after a crash of the server, although
// the slot goes back.
func resumes(t *testing.T, r realServer) {
	c := pgstore.Config{URL: r.url, Prefix: "resumes"}
	r.create(t, c)
	s, ctx := connected(t, c), t.Context()
	must(t, s.Stream(ctx, ""))
	confirmed := func() string {
		return r.ask(t, `select confirmed_flush_lsn::text from pg_replication_slots
			where slot_name = 'resumes_changes'`)
	}
	began, lsn := confirmed(), ""
	for _, learner := range []string{"l1", "l2", "l3"} {
		_, err := writes(ctx, s, learner, "enrolled")
		must(t, err)
		var key string
		for key == "" {
			lsn, key, _, err = s.Next(ctx)
			must(t, err)
		}
		must(t, s.Confirm(ctx, lsn))
	}
	before := confirmed()
	r.crash(t)
	back := confirmed()
	t.Logf("the slot began at %s, was confirmed at %s, and after a crash at %s", began, before, back)
	if back == before {
		t.Error("the slot did not go back: this shows nothing")
	}
	_, err := writes(ctx, s, "l4", "enrolled")
	must(t, err)
	must(t, s.Stream(ctx, ""))
	if s.Confirmed() < lsn {
		t.Errorf("the store is confirmed up to %s, not %s", s.Confirmed(), lsn)
	}
	if _, key, _, err := s.Next(ctx); err != nil || key != "l4/go" {
		t.Errorf("after the crash came %q, %v", key, err)
	}
}

// audits: the tables, the log and the stream agree on every position.
func audits(t *testing.T, r realServer) {
	c := pgstore.Config{URL: r.url, Prefix: "audits"}
	r.create(t, c)
	s, ctx := connected(t, c), t.Context()
	var commits, sources []string
	for _, learner := range []string{"l2", "l1", "l2"} {
		tx, err := writes(ctx, s, learner, "enrolled")
		must(t, err)
		_, lsns := s.Rows(tx)
		commits, sources = append(commits, s.Committed(tx)), append(sources, lsns...)
	}
	claim, _, _, err := s.Claim(ctx, 2)
	must(t, err)
	must(t, s.Mark(ctx, claim))
	must(t, s.Stream(ctx, ""))
	for i, commit := range commits {
		lsn, key, _, err := s.Next(ctx)
		must(t, err)
		if commit == "" || strings.TrimSuffix(lsn, "1") != strings.TrimSuffix(commit, "0") {
			t.Errorf("commit %d is at %q, and %s of the stream at %s", i, commit, key, lsn)
		}
		if row := s.RowLSN(lsn); row == "" || row >= lsn {
			t.Errorf("the row of %s is at %q", lsn, row)
		}
	}
	tables, err := s.Audit(ctx)
	must(t, err)
	at := func(i int) string { return strings.TrimSuffix(commits[i], "0") + "1" }
	rows := []pgstore.Enrollment{
		{Learner: "l2", Course: "go", Op: "enrolled", LSN: at(2)},
		{Learner: "l1", Course: "go", Op: "enrolled", LSN: at(1)},
	}
	if !slices.Equal(tables.Enrollments, rows) || !tables.Log {
		t.Errorf("the audit read %+v, not %+v", tables.Enrollments, rows)
	}
	if len(tables.Outbox) != 3 {
		t.Fatalf("the outbox is %+v", tables.Outbox)
	}
	for i, o := range tables.Outbox {
		if o.Commit != commits[i] || o.Source != sources[i] || o.Done != (i < 2) || o.ID == 0 {
			t.Errorf("row %d of the outbox is %+v", i, o)
		}
	}
	slot := tables.Slot
	if slot.State != "reserved" || slot.Lag <= 0 || slot.Retained < slot.Lag ||
		slot.Confirmed == "" || slot.Restart == "" {
		t.Errorf("the slot is %+v", slot)
	}
}

// makesRoom: what is not a run's is neither used nor dropped.
func makesRoom(t *testing.T, r realServer) {
	ctx := t.Context()
	r.exec(t, "create schema theirs", "create table theirs.t (i int)",
		"create role poor login", "create role writer login",
		"grant create on database postgres to writer")
	t.Cleanup(func() {
		r.exec(t, "drop schema theirs cascade", "drop role poor",
			"revoke create on database postgres from writer", "drop role writer")
	})
	theirs := pgstore.Config{URL: r.url, Prefix: "theirs"}
	if err := pgstore.Create(ctx, theirs); err == nil {
		t.Error("a schema that was there was taken")
	}
	if err := pgstore.Drop(ctx, theirs); err == nil || !strings.Contains(err.Error(), "not made") {
		t.Errorf("a schema of somebody else was dropped: %v", err)
	}
	r.exec(t, "select * from theirs.t")
	must(t, pgstore.Drop(ctx, pgstore.Config{URL: r.url, Prefix: "nothing"}))
	for user, want := range map[string]string{
		"poor": "create a schema", "writer": "replicate",
	} {
		url := strings.Replace(r.url, "postgres@", user+"@", 1)
		err := pgstore.Create(ctx, pgstore.Config{URL: url, Prefix: "small"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the user %s: %v", user, err)
		}
	}
	twice := pgstore.Config{URL: r.url, Prefix: "twice"}
	r.create(t, twice)
	if err := pgstore.Create(ctx, twice); err == nil {
		t.Error("a run was made twice")
	}
	must(t, connected(t, twice).Stream(ctx, "")) // and is still there
	left := "select count(*)::text from pg_replication_slots where slot_name like 'twice%'"
	must(t, pgstore.Drop(ctx, twice))
	if n := r.ask(t, left); n != "0" {
		t.Errorf("%s slots are left", n)
	}
}
