package model

import (
	"bytes"
	"flag"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/history.txt anew; then read its diff")

var textCases = []struct {
	name  string
	event Event
	line  string
}{
	{"zero", Event{Kind: Start}, "0 0s - start"},
	{"world", Event{Seq: 1, At: 90 * time.Second, Kind: Fault, Note: "crash landing/0 life 1"},
		`1 90s - fault note="crash landing/0 life 1"`},
	{"commit request", Event{
		Seq: 12, At: 1204005 * time.Microsecond, Proc: "landing/0", Life: 1, Kind: Request,
		Op: "OffsetCommit", Nth: 2, Group: "landing", Member: "m1", Generation: 3, Bytes: 97,
		Parts: []Part{commitPart(5)},
	}, "12 1.204005s landing/0 life 1 request OffsetCommit 2 group=landing member=m1 gen=3" +
		" bytes=97 [learning.progress/0 @5]"},
	{"commit reply", Event{
		Seq: 13, At: 1204210 * time.Microsecond, Proc: "landing/0", Life: 1, Kind: Reply,
		Op: "OffsetCommit", Nth: 2, Outcome: Unknown, Group: "landing", Generation: -1,
		Parts: []Part{{Topic: "learning.progress", Offset: 5, End: -1, Stable: -1, Sequence: -1,
			Err: "REBALANCE_IN_PROGRESS"}},
	}, "13 1.20421s landing/0 life 1 reply OffsetCommit 2 unknown group=landing gen=-1" +
		" [learning.progress/0 @5 err=REBALANCE_IN_PROGRESS]"},
	{"produce request", Event{
		Seq: 20, At: 2 * time.Second, Proc: "player/0", Life: 1, Kind: Request, Op: "Produce",
		Nth: 1, Producer: 1, Parts: []Part{{
			Topic: "learning.progress", Offset: -1, End: -1, Stable: -1, Records: []Record{
				{Offset: -1, ID: "ev-1", Key: "learner-1", Digest: "00ff"}, {Offset: -1},
			}}},
	}, "20 2s player/0 life 1 request Produce 1 producer=1 epoch=0 [learning.progress/0 seq=0" +
		" {id=ev-1 key=learner-1 digest=00ff} {}]"},
	{"audit", Event{
		Seq: 30, At: 1, Kind: Observe, Op: "log", Parts: []Part{{
			Topic: "dlq", Partition: 2, Offset: 0, End: 2, Stable: 0, Sequence: -1,
			Records: []Record{
				{Offset: 0, ID: "ev-1", From: Position{"learning.progress", 1, 5}, Producer: 2},
				{Offset: 1, Kind: AbortMarker},
			}}},
	}, "30 0.000000001s - observe log [dlq/2 @0 end=2 stable=0" +
		" {@0 id=ev-1 from=learning.progress/1@5 producer=2} {@1 abort}]"},
	{"object", Event{
		Seq: 31, At: -1500 * time.Millisecond, Proc: "landing/0", Life: 2, Kind: Return,
		Op: "putif", Nth: 1, Outcome: NotDone, Err: "precondition failed",
		Key: "learning.progress/0/00000", Digest: "abcd", ETag: `"e1"`, Bytes: 10,
	}, `31 -1.5s landing/0 life 2 return putif 1 not-done err="precondition failed"` +
		` key=learning.progress/0/00000 digest=abcd etag="\"e1\"" bytes=10`},
	{"nothing but numbers", Event{
		Seq: math.MinInt64, At: math.MinInt64, Life: -1, Kind: Exit, Nth: -7, Epoch: -2,
		Parts: []Part{{}},
	}, `-9223372036854775808 -9223372036.854775808s - life -1 exit - -7 epoch=-2` +
		` [""/0 @0 end=0 stable=0 seq=0]`},
	{"awkward words", Event{
		Seq: 1, Proc: "-", Kind: Note, Op: "a=b", Outcome: Done, Group: "a b", Member: "[",
		TxnID: "é", Key: "\x00\xff\n", Note: "{",
		Parts: []Part{PartOf("a/b", -1), PartOf("-", 0)},
	}, `1 0s "-" note "a=b" done group="a b" member="[" txn="é" key="\x00\xff\n"` +
		` ["a/b"/-1] ["-"/0] note="{"`},
	{"outcome alone", Event{Seq: 1, Kind: Note, Outcome: Done}, "1 0s - note - done"},
	{"op that reads as a number", Event{Seq: 1, Kind: Note, Op: "12"}, "1 0s - note 12"},
}

func commitPart(offset int64) Part {
	p := PartOf("learning.progress", 0)
	p.Offset = offset
	return p
}

func TestText(t *testing.T) {
	for _, c := range textCases {
		t.Run(c.name, func(t *testing.T) {
			line := string(AppendText([]byte("before "), &c.event))
			if diff := cmp.Diff("before "+c.line, line); diff != "" {
				t.Errorf("AppendText: %s", diff)
			}
			got, err := ParseText(c.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.event, got); diff != "" {
				t.Errorf("ParseText: %s", diff)
			}
		})
	}
}

func TestParseTextTakesLinesWrittenByHand(t *testing.T) {
	got, err := ParseText("  7\t1m30s  p/0 reply Produce  [t/0 {key=k @3 reject} @3]  group=g\t")
	if err != nil {
		t.Fatal(err)
	}
	part := PartOf("t", 0)
	part.Offset = 3
	part.Records = []Record{{Offset: 3, Kind: Rejected, Key: "k"}}
	want := Event{Seq: 7, At: 90 * time.Second, Proc: "p/0", Kind: Reply, Op: "Produce",
		Group: "g", Parts: []Part{part}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

var badLines = []struct{ line, want string }{
	{"", `column 1: the end of the line where the number of seq is wanted`},
	{"x", `column 1: "x" where the number of seq is wanted`},
	{"1", `column 2: the end of the line where the time is wanted`},
	{"1 2", `column 3: "2" is not a time since the start of the run, like 1.25s`},
	{"1 2s", `column 5: the end of the line where the process is wanted`},
	{"1 2s p/0 life x", `column 15: "x" where the number of life is wanted`},
	{"1 2s p/0", `column 9: the end of the line where the kind is wanted`},
	{"1 2s p/0 reqest", `column 10: unknown kind "reqest"`},
	{"1 2s p/0 reply x 1 dne", `column 20: unknown outcome "dne": done, not-done or unknown`},
	{"1 2s p/0 reply x 1x", `column 19: "x" where a blank is wanted`},
	{"1 2s - heal a=1", `column 13: an event has no field "a"`},
	{"1 2s - heal key=a key=b", `column 19: key is given twice`},
	{"1 2s - heal key= x", `column 13: key= has no value`},
	{`1 2s - heal key="x`, `column 17: key: quotes that do not close, or a bad escape in them`},
	{`1 2s - heal key="x"y`, `column 20: "y" where a blank is wanted`},
	{"1 2s - heal epoch=40000", `column 19: epoch 40000 does not fit in 16 bits`},
	{"1 2s - heal op 1 done more", `column 23: "more" where name=value is wanted`},
	{"1 2s - heal ]", `column 13: "]" where name=value is wanted`},
	{"1 2s - heal [t", `column 15: the end of the line where '/' is wanted`},
	{"1 2s - heal [t/0", `column 13: '[' is not closed by ']': the line is cut off`},
	{"1 2s - heal [t/0 {@1", `column 18: '{' is not closed by '}': the line is cut off`},
	{"1 2s - heal [t/0 a=1]", `column 18: a part has no field "a"`},
	{"1 2s - heal [t/0 @1 @1]", `column 21: @offset is given twice`},
	{"1 2s - heal [t/0 {a=1}]", `column 19: a record has no field "a"`},
	{"1 2s - heal [t/0 {odd}]", `column 19: unknown record kind "odd"`},
	{"1 2s - heal [t/0 {hole hole}]", `column 24: kind of record is given twice`},
	{"1 2s - heal [t/0 {from=t/0}]", `column 27: "}]" where '@' is wanted`},
	{"1 2s - heal \x01", "column 13: byte 0x01 is not text: the file is binary or damaged"},
	{"1 2s - heal key=\"\xff\"", "column 18: byte 0xff is not text: the file is binary or damaged"},
	{"1 2s - heal key=\"\xef\"", "column 18: byte 0xef is not text: the file is binary or damaged"},
}

func TestParseTextRefuses(t *testing.T) {
	for _, c := range badLines {
		e, err := ParseText(c.line)
		if err == nil {
			t.Errorf("%q was read as %+v", c.line, e)
			continue
		}
		if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%q: %s", c.line, diff)
		}
	}
}

func TestGolden(t *testing.T) {
	const file = "testdata/history.txt"
	h := new(History)
	for _, c := range textCases {
		h.Append(c.event)
	}
	var b bytes.Buffer
	if err := h.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("the text form changed, so saved histories may not read back;"+
			" if that is meant: go test ./model -run Golden -update\n%s", diff)
	}
	got, err := Read(bytes.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h.Events(), got.Events()); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkAppendText(b *testing.B) {
	e := textCases[4].event
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendText(buf[:0], &e)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkParseText(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseText(textCases[4].line); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendTextDoesNotAllocate(t *testing.T) {
	e, buf := textCases[4].event, make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { AppendText(buf, &e) }); n != 0 {
		t.Errorf("%v allocations per line; it runs for every event of every run", n)
	}
}

func TestBoundary(t *testing.T) {
	for kind, want := range map[Kind]bool{
		Request: true, Reply: true, Call: true, Return: true,
		Start: false, Crash: false, Note: false, Observe: false, "": false,
	} {
		if kind.Boundary() != want {
			t.Errorf("%q: %v, want %v", kind, !want, want)
		}
	}
}
