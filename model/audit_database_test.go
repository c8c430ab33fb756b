package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
)

const databaseHistory = `1 0s - observe row key=l/b lsn=0000000000000009/00000001 [enrollment/0 {id=0000000000000009/00000001 key=l/b cell=dropped}]
2 0s - observe row key=l/a lsn=0000000000000008/00000002 [enrollment/0 {id=0000000000000008/00000002 key=l/a cell=enrolled}]
3 0s - observe outbox key=l/b lsn=0000000000000009/00000000 (published 0) [outbox/0 {@2 id=0000000000000007/00000001 key=l/b cell=dropped}]
4 0s - observe outbox key=l/a lsn=0000000000000008/00000000 (published 1) [outbox/0 {@1 id=0000000000000006/00000001 key=l/a cell=enrolled}]
5 0s - observe slot key=slot lsn=0000000000000009/00000000 (retained 40) (lag 20) note=reserved
`

// TestAuditDatabase: what the audit read of a database, sorted.
func TestAuditDatabase(t *testing.T) {
	h, err := model.Read(strings.NewReader(databaseHistory))
	if err != nil {
		t.Fatal(err)
	}
	a := model.Audit(h)
	want := model.Audited{
		Rows: []model.Row{
			{Key: "l/a", Op: "enrolled", LSN: "0000000000000008/00000002", Seq: 2},
			{Key: "l/b", Op: "dropped", LSN: "0000000000000009/00000001", Seq: 1},
		},
		Outbox: []model.OutboxRow{
			{ID: 1, Key: "l/a", Op: "enrolled", Source: "0000000000000006/00000001",
				Commit: "0000000000000008/00000000", Published: true, Seq: 4},
			{ID: 2, Key: "l/b", Op: "dropped", Source: "0000000000000007/00000001",
				Commit: "0000000000000009/00000000", Seq: 3},
		},
		Slot: model.Slot{State: "reserved", Confirmed: "0000000000000009/00000000",
			Retained: 40, Lag: 20, Seq: 5},
		Seen: 5,
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("the audit (-want +got):\n%s", diff)
	}
}

// TestViewDatabase folds what a database answered, line by line.
func TestViewDatabase(t *testing.T) {
	type state struct {
		Unpublished     int
		Last, Confirmed string
	}
	v := model.NewView()
	seq := int64(0)
	for _, x := range []struct {
		line string
		want state
	}{
		// A mark that is answered before the commit of its row is.
		{`p/0 life 1 return mark 1 done key=outbox [outbox/0 {@1 key=l/a}]`, state{}},
		{`p/0 life 1 return commit 1 done lsn=A/0 [enrollment/0 {id=A/1 key=l/a} {id=A/2 key=l/b}] [outbox/0 {@1 key=l/a} {@2 key=l/b}]`, state{1, "A/2", ""}},
		// What another session said is done, whoever heard of it.
		{`p/0 life 1 return commit 2 unknown lsn=C/0 [enrollment/0 {id=C/1 key=l/a}] [outbox/0 {@4 key=l/a}]`, state{2, "C/1", ""}},
		{`p/0 life 1 return commit 3 done lsn=B/0 [enrollment/0 {id=B/1 key=l/a}]`, state{2, "C/1", ""}},
		// An error says that nothing was done.
		{`p/0 life 1 return commit 4 unknown err=gone [enrollment/0 {key=l/a}] [outbox/0 {@9 key=l/a}]`, state{2, "C/1", ""}},
		{`p/0 life 1 return mark 2 not-done err=denied key=outbox [outbox/0 {@2 key=l/b}]`, state{2, "C/1", ""}},
		{`p/0 life 1 call mark 3 key=outbox [outbox/0 {@2 key=l/b}]`, state{2, "C/1", ""}},
		{`p/0 life 1 return mark 3 unknown key=outbox [outbox/0 {@2 key=l/b}]`, state{1, "C/1", ""}},
		{`p/0 life 1 return mark 4 done key=outbox [outbox/0 {@2 key=l/b}]`, state{1, "C/1", ""}},
		{`p/0 life 1 return confirm 1 done key=slot lsn=B/1`, state{1, "C/1", "B/1"}},
		{`p/0 life 1 return confirm 2 done key=slot lsn=A/1`, state{1, "C/1", "B/1"}},
		{`p/0 life 1 fault lsn=A/0 note="database p/0 life 1 at call mark 5 crashes"`, state{1, "C/1", "A/0"}},
		// It was asked before the crash.
		{`p/0 life 1 return confirm 3 done of=4 key=slot lsn=B/1`, state{1, "C/1", "A/0"}},
		{`p/0 life 1 return confirm 4 done key=slot lsn=C/1`, state{1, "C/1", "C/1"}},
		{`p/0 life 1 fault note="lose p/0 life 1 call mark 6"`, state{1, "C/1", "C/1"}},
	} {
		seq++
		h, err := model.Read(strings.NewReader("1 0s " + x.line + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", x.line, err)
		}
		e := h.Events()[0]
		e.Seq = seq
		v.Apply(&e)
		got := state{v.Unpublished(), v.LastChange(), v.Confirmed()}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", x.line, diff)
		}
	}
}
