package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAudit(t *testing.T) {
	first := Part{Topic: "t", Partition: 1, End: 1, Stable: 1, Sequence: -1,
		Records: []Record{{ID: "a"}}}
	again := Part{Topic: "t", Partition: 1, End: 2, Stable: 2, Sequence: -1,
		Records: []Record{{ID: "a"}, {Offset: 1, Kind: CommitMarker}}}
	zero := Part{Topic: "t", Sequence: -1}
	other := Part{Topic: "s", Partition: 3, Sequence: -1}
	lines := []Part{{Topic: "t", Offset: -1, End: -1, Stable: -1, Sequence: -1,
		Records: []Record{{Offset: 4, ID: "x", Kind: Rejected}}}}
	commit := func(partition int32, offset int64) []Part {
		p := PartOf("t", partition)
		p.Offset = offset
		return []Part{p}
	}
	h := historyOf(
		Event{Kind: Reply, Op: "log", Parts: []Part{{Topic: "not the audit"}}},
		Event{Kind: Observe, Op: "log", Parts: []Part{first}},
		Event{Kind: Observe, Op: "log", Parts: []Part{zero}},
		Event{Kind: Observe, Op: "log", Parts: []Part{other}},
		Event{Kind: Observe, Op: "log", Parts: []Part{again}},
		Event{Kind: Observe, Op: "log", Err: "NOT_LEADER", Parts: []Part{PartOf("t", 9)}},
		Event{Kind: Observe, Op: "commit", Group: "g", Parts: commit(1, -1)},
		Event{Kind: Observe, Op: "commit", Group: "g", Parts: commit(0, 7)},
		Event{Kind: Observe, Op: "object", Key: "t/1", Digest: "d1", ETag: "e1", Bytes: 3},
		Event{Kind: Observe, Op: "object", Key: "t/0", Digest: "d0", Parts: lines},
		Event{Kind: Observe, Op: "log"},
	)
	got := Audit(h)
	want := Audited{
		Logs:    []Part{other, zero, again},
		LogSeqs: []int64{4, 3, 5},
		Commits: []GroupOffset{
			{Group: "g", Topic: "t", Partition: 0, Offset: 7, Seq: 8},
			{Group: "g", Topic: "t", Partition: 1, Offset: -1, Seq: 7},
		},
		Objects: []Object{
			{Key: "t/0", Digest: "d0", Parts: lines, Seq: 10},
			{Key: "t/1", Digest: "d1", ETag: "e1", Bytes: 3, Seq: 9},
		},
		Failed: []int64{6},
		Seen:   10,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]Part{zero, again}, got.Topic("t")); diff != "" {
		t.Errorf("Topic: %s", diff)
	}
	if none := got.Topic("r"); none != nil {
		t.Errorf("Topic of what was not read: %v", none)
	}
	if seq := got.LogSeq("t", 1); seq != 5 {
		t.Errorf("LogSeq = %d, want 5", seq)
	}
	if seq := got.LogSeq("t", 2); seq != 0 {
		t.Errorf("LogSeq of what was not read = %d", seq)
	}
}

func TestAuditedCommitted(t *testing.T) {
	seven := PartOf("t", 0)
	seven.Offset = 7
	a := Audit(historyOf(
		Event{Kind: Observe, Op: "commit", Group: "g", Parts: []Part{seven}},
		Event{Kind: Observe, Op: "commit", Group: "g", Parts: []Part{PartOf("t", 1)}},
	))
	for _, c := range []struct {
		group, topic string
		partition    int32
		offset       int64
		known        bool
	}{
		{"g", "t", 0, 7, true},
		{"g", "t", 1, -1, true},
		{"g", "t", 2, -1, false},
		{"h", "t", 0, -1, false},
		{"g", "s", 0, -1, false},
	} {
		offset, known := a.Committed(c.group, c.topic, c.partition)
		if offset != c.offset || known != c.known {
			t.Errorf("%s %s/%d: %d, %v; want %d, %v", c.group, c.topic, c.partition,
				offset, known, c.offset, c.known)
		}
	}
}

func TestAuditedRan(t *testing.T) {
	if Audit(historyOf(Event{Kind: Heal})).Ran() {
		t.Error("an audit that never was")
	}
	if !Audit(historyOf(Event{Kind: Observe, Op: "row"})).Ran() {
		t.Error("an audit was overlooked")
	}
}
