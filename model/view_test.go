package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is everything that a view of these tests can be asked.
type seen struct {
	End, Committed  int64
	Keys            []string
	Asked, Answered int
}

func onePart(change func(*Part)) []Part {
	p := PartOf("t", 0)
	change(&p)
	return []Part{p}
}

var (
	two       = []Record{{Offset: 5, ID: "a"}, {Offset: 6, ID: "b"}}
	appended  = onePart(func(p *Part) { p.Offset, p.Records = 5, two })
	refused   = onePart(func(p *Part) { p.Offset, p.Records, p.Err = 5, two, "NOT_LEADER" })
	committed = onePart(func(p *Part) { p.Offset = 5 })
)

var viewCases = []struct {
	name   string
	events []Event
	want   seen
}{
	{"nothing", nil, seen{Committed: -1}},
	{"appended", []Event{{Kind: Reply, Op: "Produce", Outcome: Done, Parts: appended}},
		seen{End: 7, Committed: -1}},
	{"appended, reply lost", []Event{
		{Kind: Reply, Op: "Produce", Outcome: Unknown, Parts: appended}},
		seen{End: 7, Committed: -1}},
	{"asked only", []Event{{Kind: Request, Op: "Produce", Parts: appended}},
		seen{Committed: -1}},
	{"partition refused", []Event{{Kind: Reply, Op: "Produce", Outcome: Unknown, Parts: refused}},
		seen{Committed: -1}},
	{"request refused", []Event{{Kind: Reply, Op: "Produce", Err: "X", Parts: appended}},
		seen{Committed: -1}},
	{"base offset alone", []Event{{Kind: Reply, Op: "Produce",
		Parts: onePart(func(p *Part) { p.Offset, p.Records = 5, []Record{{Offset: -1}} })}},
		seen{End: 6, Committed: -1}},
	{"an old sequence does not lower the end", []Event{
		{Kind: Reply, Op: "Produce", Parts: appended},
		{Kind: Reply, Op: "Produce", Parts: onePart(func(p *Part) {
			p.Offset, p.Records = 0, []Record{{Offset: 0}}
		})},
	}, seen{End: 7, Committed: -1}},
	{"a late answer does not undo a later request", []Event{
		{Kind: Request, Op: "OffsetCommit"},
		{Kind: Request, Op: "OffsetCommit"},
		{Kind: Reply, Op: "OffsetCommit", Of: 2, Group: "g", Parts: committed},
		{Kind: Reply, Op: "OffsetCommit", Of: 1, Group: "g",
			Parts: onePart(func(p *Part) { p.Offset = 3 })},
	}, seen{Committed: 5}},
	{"offsets of a transaction that commits", []Event{
		{Seq: 1, Kind: Reply, Op: "TxnOffsetCommit", TxnID: "x", Group: "g", Parts: committed},
		{Seq: 2, Kind: Reply, Op: "EndTxn", TxnID: "x", Outcome: Unknown, Note: "commit"},
	}, seen{Committed: 5}},
	{"offsets of a transaction that aborts", []Event{
		{Seq: 1, Kind: Reply, Op: "TxnOffsetCommit", TxnID: "x", Group: "g", Parts: committed},
		{Seq: 2, Kind: Reply, Op: "EndTxn", TxnID: "x", Note: "abort"},
		{Seq: 3, Kind: Reply, Op: "EndTxn", TxnID: "x", Note: "commit"},
	}, seen{Committed: -1}},
	{"offsets of a transaction whose end is heard after its successor began", []Event{
		{Seq: 1, Kind: Request, Op: "TxnOffsetCommit", TxnID: "x"},
		{Seq: 2, Kind: Request, Op: "EndTxn", TxnID: "x"},
		{Seq: 3, Kind: Request, Op: "InitProducerID", TxnID: "x"},
		{Kind: Reply, Op: "TxnOffsetCommit", Of: 1, TxnID: "x", Group: "g", Parts: committed},
		{Kind: Reply, Op: "InitProducerID", Of: 3, TxnID: "x"},
		{Kind: Reply, Op: "EndTxn", Of: 2, TxnID: "x", Note: "commit"},
	}, seen{Committed: 5}},
	{"an end that is asked for twice counts from the first time", []Event{
		{Seq: 1, Kind: Reply, Op: "TxnOffsetCommit", TxnID: "x", Group: "g", Parts: committed},
		{Seq: 2, Kind: Request, Op: "EndTxn", TxnID: "x", Note: "commit"},
		{Seq: 3, Kind: Reply, Op: "TxnOffsetCommit", TxnID: "y", Group: "g",
			Parts: onePart(func(p *Part) { p.Offset = 9 })},
		{Seq: 4, Kind: Reply, Op: "EndTxn", TxnID: "y", Note: "commit"},
		{Seq: 5, Kind: Request, Op: "EndTxn", TxnID: "x", Note: "commit"},
		{Seq: 6, Kind: Reply, Op: "EndTxn", Of: 5, TxnID: "x", Note: "commit"},
		{Seq: 7, Kind: Reply, Op: "EndTxn", Of: 2, TxnID: "x", Note: "commit"},
	}, seen{Committed: 9}},
	{"offsets of a transaction whose owner was fenced", []Event{
		{Seq: 1, Kind: Reply, Op: "TxnOffsetCommit", TxnID: "x", Group: "g", Parts: committed},
		{Seq: 2, Kind: Reply, Op: "InitProducerID", TxnID: "x"},
		{Seq: 3, Kind: Reply, Op: "EndTxn", TxnID: "x", Note: "commit"},
	}, seen{Committed: -1}},
	{"fetched end", []Event{{Kind: Reply, Op: "Fetch",
		Parts: onePart(func(p *Part) { p.Offset, p.End = 100, 9 })}},
		seen{End: 9, Committed: -1}},
	{"fetched records", []Event{{Kind: Reply, Op: "Fetch",
		Parts: onePart(func(p *Part) { p.Offset, p.Records = 1, two })}},
		seen{End: 7, Committed: -1}},
	{"another partition", []Event{{Kind: Reply, Op: "Fetch",
		Parts: []Part{{Topic: "t", Partition: 1, End: 9}, {Topic: "u", End: 9}}}},
		seen{Committed: -1}},
	{"committed, and back", []Event{
		{Kind: Reply, Op: "OffsetCommit", Group: "g",
			Parts: onePart(func(p *Part) { p.Offset = 9 })},
		{Kind: Reply, Op: "OffsetCommit", Group: "g", Outcome: Unknown, Parts: committed},
		{Kind: Reply, Op: "OffsetCommit", Group: "other", Parts: refused},
		{Kind: Reply, Op: "OffsetCommit", Group: "g", Parts: refused},
		{Kind: Reply, Op: "TxnOffsetCommit", Group: "g", Parts: appended},
	}, seen{Committed: 5}},
	{"objects", []Event{
		{Kind: Call, Op: "put", Key: "k/called"},
		{Kind: Return, Op: "put", Key: "k/2"},
		{Kind: Return, Op: "putif", Key: "k/1", Outcome: Unknown},
		{Kind: Return, Op: "putif", Key: "k/refused", Err: "precondition failed"},
		{Kind: Return, Op: "put", Key: "k/gone"},
		{Kind: Return, Op: "delete", Key: "k/gone"},
		{Kind: Return, Op: "delete", Key: "k/1", Err: "denied"},
		{Kind: Return, Op: "put", Key: "elsewhere"},
		{Kind: Return, Op: "get", Key: "k/read"},
	}, seen{Committed: -1, Keys: []string{"k/1", "k/2"}}},
	{"notes", []Event{
		{Kind: Note, Op: "ask"}, {Kind: Note, Op: "ask"}, {Kind: Note, Op: "send"},
		{Kind: Note, Op: "answer", Outcome: NotDone, Err: "timeout"},
	}, seen{Committed: -1, Asked: 2, Answered: 1}},
}

func TestView(t *testing.T) {
	for _, c := range viewCases {
		t.Run(c.name, func(t *testing.T) {
			v := NewView()
			for i := range c.events {
				v.Apply(&c.events[i])
			}
			got := seen{v.End("t", 0), v.Committed("g", "t", 0), v.Keys("k/"),
				v.Asked(), v.Answered()}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestViewObject(t *testing.T) {
	v := NewView()
	lines := []Part{PartOf("t", 0)}
	v.Apply(&Event{Seq: 8, Kind: Return, Op: "put", Key: "k", Digest: "old"})
	v.Apply(&Event{Seq: 9, Kind: Return, Op: "putif", Key: "k", Digest: "d", ETag: "e", Bytes: 4,
		Parts: lines})
	got, ok := v.Object("k")
	want := Object{Key: "k", Digest: "d", ETag: "e", Bytes: 4, Parts: lines, Seq: 9}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	if _, ok := v.Object("other"); ok {
		t.Error("an object that nobody put")
	}
}
