package model

import (
	"math"
	"time"

	"pgregory.net/rapid"
)

// awkward are strings that a careless text form would lose.
var awkward = []string{
	"", "-", " ", "a b", "\"", "a\"b\\", "\n", "a\r\nb", "\t", "\x00", "\x7f", "\xff\xfe",
	"\u0085", "\u2028", "\uFFFD", "\uFEFF", "é", "漢字", "[", "]", "{x}", "a=b", "#x", "@5",
	"life", "1", "-1", "1s", "a/b", "/", "'", "`", "<&>", "\ud7ff", "done",
	"topic/0@5", "note=\"x\"",
}

func anyString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(awkward),
		rapid.StringMatching(`[a-z0-9./-]{0,12}`),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
}

func anyInt64() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{-1, 0, 1, math.MinInt64, math.MaxInt64}), rapid.Int64())
}

func anyInt32() *rapid.Generator[int32] {
	return rapid.OneOf(
		rapid.SampledFrom([]int32{-1, 0, 1, math.MinInt32, math.MaxInt32}), rapid.Int32())
}

func anyPosition(t *rapid.T) Position {
	if rapid.Bool().Draw(t, "from nowhere") {
		return Position{}
	}
	return Position{
		Topic:     anyString().Draw(t, "from topic"),
		Partition: anyInt32().Draw(t, "from partition"),
		Offset:    anyInt64().Draw(t, "from offset"),
	}
}

func anyRecord(t *rapid.T) Record {
	kinds := []RecordKind{Data, CommitMarker, AbortMarker, Hole, Rejected, Aborted}
	return Record{
		Offset:   anyInt64().Draw(t, "record offset"),
		Kind:     rapid.SampledFrom(kinds).Draw(t, "record kind"),
		ID:       anyString().Draw(t, "id"),
		Key:      anyString().Draw(t, "record key"),
		Digest:   anyString().Draw(t, "record digest"),
		Class:    anyString().Draw(t, "record class"),
		Cell:     anyString().Draw(t, "record cell"),
		From:     anyPosition(t),
		Producer: anyInt64().Draw(t, "record producer"),
	}
}

func anyCount(t *rapid.T) Count {
	return Count{Of: anyString().Draw(t, "of"), N: anyInt64().Draw(t, "n")}
}

func anyPart(t *rapid.T) Part {
	return Part{
		Topic:     anyString().Draw(t, "topic"),
		Partition: anyInt32().Draw(t, "partition"),
		Offset:    anyInt64().Draw(t, "offset"),
		End:       anyInt64().Draw(t, "end"),
		Stable:    anyInt64().Draw(t, "stable"),
		Sequence:  anyInt32().Draw(t, "sequence"),
		Err:       anyString().Draw(t, "part err"),
		Records:   listOf(t, anyRecord),
	}
}

func listOf[T any](t *rapid.T, one func(*rapid.T) T) []T {
	var list []T // nil where empty, as every parser gives it
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		list = append(list, one(t))
	}
	return list
}

// anyEvent draws from all events whose kinds and outcome are known: whatever
// else stands in their fields.
func anyEvent(t *rapid.T) Event {
	kinds := []Kind{Request, Reply, Call, Return, Start, Crash, Stop, Exit, Pause, Resume,
		Fault, Heal, Note, Alert, Observe}
	outcomes := []Outcome{NoOutcome, Done, NotDone, Unknown}
	return Event{
		Seq:        anyInt64().Draw(t, "seq"),
		At:         time.Duration(anyInt64().Draw(t, "at")),
		Proc:       anyString().Draw(t, "proc"),
		Life:       int(anyInt64().Draw(t, "life")),
		Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
		Op:         anyString().Draw(t, "op"),
		Nth:        int(anyInt64().Draw(t, "nth")),
		Outcome:    rapid.SampledFrom(outcomes).Draw(t, "outcome"),
		Err:        anyString().Draw(t, "err"),
		Producer:   anyInt64().Draw(t, "producer"),
		Epoch:      rapid.Int16().Draw(t, "epoch"),
		Group:      anyString().Draw(t, "group"),
		Member:     anyString().Draw(t, "member"),
		Generation: anyInt32().Draw(t, "generation"),
		TxnID:      anyString().Draw(t, "txn"),
		Parts:      listOf(t, anyPart),
		Key:        anyString().Draw(t, "key"),
		Digest:     anyString().Draw(t, "digest"),
		ETag:       anyString().Draw(t, "etag"),
		Bytes:      anyInt64().Draw(t, "bytes"),
		LSN:        anyString().Draw(t, "lsn"),
		Counts:     listOf(t, anyCount),
		Note:       anyString().Draw(t, "note"),
	}
}

func historyOf(events ...Event) *History {
	h := new(History)
	for _, e := range events {
		h.Append(e)
	}
	return h
}
