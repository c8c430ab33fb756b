package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSteps(t *testing.T) {
	at := func(partition int32, offset int64, err string) Part {
		p := PartOf("t", partition)
		p.Offset, p.Err = offset, err
		return p
	}
	record := func(partition int32, r Record) []Part {
		p := PartOf("t", partition)
		p.Records = []Record{r}
		return []Part{p}
	}
	lines := record(0, Record{Offset: 3})
	h := historyOf(
		Event{Kind: Request, Op: "OffsetCommit", Group: "g", Parts: []Part{at(0, 4, "")}},
		Event{Proc: "p/0", Life: 1, Kind: Reply, Op: "OffsetCommit", Group: "g", Outcome: Unknown,
			Parts: []Part{at(1, 5, "FENCED"), at(0, 4, "")}},
		Event{Kind: Reply, Op: "OffsetCommit", Group: "h", Parts: []Part{at(0, 4, "")}},
		Event{Proc: "p/0", Life: 2, Kind: Reply, Op: "OffsetCommit", Group: "g", Err: "X",
			Parts: []Part{at(0, 9, "")}},
		Event{Kind: Call, Op: "put", Key: "k"},
		Event{Proc: "p/0", Life: 2, Kind: Return, Op: "put", Key: "k", Digest: "d", Parts: lines,
			Outcome: Unknown},
		Event{Proc: "p/1", Life: 1, Kind: Return, Op: "putif", Of: 5, Key: "k",
			Digest: "e", Err: "exists"},
		Event{Kind: Return, Op: "delete", Key: "k"},
		Event{Proc: "q/0", Life: 1, Kind: Note, Op: "send",
			Parts: record(-1, Record{Offset: -1, ID: "a", Key: "k", Digest: "d"})},
		Event{Proc: "q/0", Life: 1, Kind: Note, Op: "ack", Outcome: Done,
			Parts: record(2, Record{Offset: 7, ID: "a"})},
		Event{Proc: "q/0", Life: 1, Kind: Note, Op: "ack", Outcome: Unknown, Err: "timeout",
			Parts: record(-1, Record{Offset: -1, ID: "b"})},
		Event{Kind: Note, Op: "ack"},
		Event{Kind: Alert, Op: "send", Parts: lines},
	)
	for _, c := range []struct {
		name      string
		want, got any
	}{
		{"Commits", []Commit{
			{Seq: 2, Took: 2, Proc: "p/0", Life: 1, Topic: "t", Partition: 1, Offset: 5},
			{Seq: 2, Took: 2, Proc: "p/0", Life: 1, Topic: "t", Offset: 4, Applied: true},
			{Seq: 4, Took: 4, Proc: "p/0", Life: 2, Topic: "t", Partition: 0, Offset: 9},
		}, Commits(h, "g")},
		{"Puts", []Put{
			{Seq: 7, Took: 5, Proc: "p/1", Life: 1, Key: "k", Digest: "e"},
			{Seq: 6, Took: 6, Proc: "p/0", Life: 2, Key: "k", Digest: "d", Parts: lines,
				Applied: true},
		}, Puts(h)},
		{"Sends", []Send{
			{Seq: 9, Proc: "q/0", Life: 1, Topic: "t", Partition: -1,
				ID: "a", Key: "k", Digest: "d"},
		}, Sends(h)},
		{"Acks", []Ack{
			{Seq: 10, Proc: "q/0", Life: 1, Topic: "t", Partition: 2, Offset: 7, ID: "a",
				Outcome: Done},
			{Seq: 11, Proc: "q/0", Life: 1, Topic: "t", Partition: -1, Offset: -1, ID: "b",
				Outcome: Unknown, Err: "timeout"},
		}, Acks(h)},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if Commits(new(History), "g") != nil || Sends(new(History)) != nil {
		t.Error("steps in an empty history")
	}
}
