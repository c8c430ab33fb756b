package model

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

var badHistories = []struct{ name, in, want string }{
	{"empty", "", "the history is empty: it holds no event," +
		" so the run was not written or died before its first event"},
	{"comments alone", "# nothing\n\n", "the history is empty: it holds no event," +
		" so the run was not written or died before its first event"},
	{"cut off", "1 0s - start\n2 0s - exit bytes=12", "line 2: the last line has no newline," +
		" so it was cut off: take the whole file, or end the line if it was written by hand"},
	{"cut off JSON", `{"seq":1,"at_ns":0,"kind":"sta`, "line 1: the last line has no newline," +
		" so it was cut off: take the whole file, or end the line if it was written by hand"},
	{"first seq", "2 0s - start\n",
		"line 1: seq 2 where 1 must follow: events are missing or out of order"},
	{"seq gap", "# a\n1 0s - start\n\n3 0s - exit\n",
		"line 4: seq 3 where 2 must follow: events are missing or out of order"},
	{"seq gap in JSON",
		`{"seq":1,"at_ns":0,"kind":"start"}` + "\n" + `{"at_ns":0,"kind":"exit"}` + "\n",
		"line 2: seq 0 where 2 must follow: events are missing or out of order"},
	{"unknown kind", "1 0s - strat\n", `line 1: column 8: unknown kind "strat"`},
	{"unknown kind in JSON", `{"seq":1,"at_ns":0,"kind":"strat"}` + "\n",
		`line 1: unknown kind "strat"`},
	{"unknown outcome in JSON", `{"seq":1,"at_ns":0,"kind":"note","outcome":"x"}` + "\n",
		`line 1: unknown outcome "x": done, not-done or unknown`},
	{"unknown record kind in JSON",
		`{"seq":1,"at_ns":0,"kind":"note","parts":[{"topic":"t","partition":0,` +
			`"records":[{"kind":"x"}]}]}` + "\n",
		`line 1: unknown record kind "x"`},
	{"unknown field", `{"seq":1,"at_ns":0,"kind":"start","colour":"red"}` + "\n",
		`line 1: json: unknown field "colour"`},
	{"unknown field deep", `{"seq":1,"at_ns":0,"kind":"start","key":{"base32":""}}` + "\n",
		`line 1: "{\"base32\":\"\"}" is no string: "..." or {"base64": "..."} is`},
	{"a number for a string", `{"op":5}` + "\n",
		`line 1: "5" is no string: "..." or {"base64": "..."} is`},
	{"too large", `{"life":1,"epoch":40000}` + "\n",
		`line 1: column 23: a number 40000 does not fit the field "epoch"`},
	{"bad JSON", `{"seq":1,"at_ns":0,}` + "\n",
		"line 1: column 20: invalid character '}' looking for beginning of object key string"},
	{"wrong type", `{"seq":"1"}` + "\n",
		`line 1: column 10: a string does not fit the field "seq"`},
	{"two events on a line", `{"seq":1,"at_ns":0,"kind":"start"} {}` + "\n",
		"line 1: column 36: more after the end of the event"},
	{"text among JSON", `{"seq":1,"at_ns":0,"kind":"start"}` + "\n2 0s - exit\n",
		"line 2: a number where an event, {...}, is wanted"},
	{"JSON among text", "1 0s - start\n{}\n",
		`line 2: column 1: "{}" where the number of seq is wanted`},
	{"comment among JSON", `{"seq":1,"at_ns":0,"kind":"start"}` + "\n# note\n",
		"line 2: column 1: invalid character '#' looking for beginning of value"},
	{"binary", "\x7fELF\x00\n", "line 1: column 1: byte 0x7f starts no history:" +
		" a number (text form) or { (JSON Lines) does"},
	{"binary after a while", "1 0s - start\n2 0s \x00\n",
		"line 2: column 6: byte 0x00 is not text: the file is binary or damaged"},
	{"binary in JSON", "{\"seq\":1,\"proc\":\"\xff\"}\n",
		"line 1: bytes that are not UTF-8: the file is binary or damaged"},
	{"gzip", "\x1f\x8b\x08\x00\n",
		"line 1: column 1: this is compressed with gzip: unpack it first"},
	{"another format", "  <html>\n", "line 1: column 3: byte 0x3c starts no history:" +
		" a number (text form) or { (JSON Lines) does"},
}

func TestReadRefuses(t *testing.T) {
	for _, c := range badHistories {
		t.Run(c.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(c.in))
			if err == nil {
				t.Fatalf("read %d events", h.Len())
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every history that lost its end must be noticed, unless the cut falls just
// between two lines.
func TestReadNoticesEveryCut(t *testing.T) {
	h := historyOf(textCases[2].event, textCases[6].event)
	for form, write := range forms {
		var b bytes.Buffer
		if err := write(h, &b); err != nil {
			t.Fatal(err)
		}
		for n := range b.Len() {
			cut := b.Bytes()[:n]
			got, err := Read(bytes.NewReader(cut))
			if err == nil && !bytes.HasSuffix(cut, []byte("\n")) {
				t.Errorf("%s: %d of %d bytes were read as %d events", form, n, b.Len(), got.Len())
			}
		}
	}
}

func TestReadSkipsBlankLinesAndComments(t *testing.T) {
	for name, in := range map[string]string{
		"text": "\n # by hand\n\t1 0s - start \r\n\n#\n2 1s - exit\n\n",
		"lines": "\n{\"seq\":1,\"kind\":\"start\"}\r\n\n" +
			"{\"seq\":2,\"at_ns\":1000000000,\"kind\":\"exit\"}\n",
	} {
		h, err := Read(strings.NewReader(in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := []Event{{Seq: 1, Kind: Start}, {Seq: 2, At: 1e9, Kind: Exit}}
		if diff := cmp.Diff(want, h.Events()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReadLimitsALine(t *testing.T) {
	line := func(length int) string {
		const before, after = `1 0s - note note="`, "\"\n"
		return before + strings.Repeat("x", length-len(before)-len(after)) + after
	}
	if _, err := Read(strings.NewReader(line(maxLine))); err != nil {
		t.Errorf("a line at the limit: %v", err)
	}
	_, err := Read(strings.NewReader("\n" + line(maxLine+1)))
	if diff := cmp.Diff("line 2 is over 16 MiB: this is no history", errorText(err)); diff != "" {
		t.Error(diff)
	}
	h := historyOf(Event{Kind: Note, Note: strings.Repeat("x", maxLine)})
	for form, write := range forms {
		if err := write(h, new(bytes.Buffer)); err == nil {
			t.Errorf("%s: a line was written that Read refuses", form)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestReadWrapsTheReadersError(t *testing.T) {
	broken := errors.New("broken disk")
	in := io.MultiReader(strings.NewReader("1 0s - start\n2 0s"), iotest.ErrReader(broken))
	_, err := Read(in)
	if !errors.Is(err, broken) {
		t.Fatalf("%v does not wrap the reader's error", err)
	}
	want := "reading a history at line 2: broken disk"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRefusesWhatCannotBeReadBack(t *testing.T) {
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: "x"}, `event 2 cannot be written: unknown kind "x"`},
		{Event{Kind: Note, Outcome: "x"},
			`event 2 cannot be written: unknown outcome "x": done, not-done or unknown`},
		{Event{Kind: Note, Parts: []Part{{Records: []Record{{Kind: "x"}}}}},
			`event 2 cannot be written: unknown record kind "x"`},
	} {
		h := historyOf(Event{Kind: Start}, c.event)
		for form, write := range forms {
			err := write(h, new(bytes.Buffer))
			if diff := cmp.Diff(c.want, errorText(err)); diff != "" {
				t.Errorf("%s: %s", form, diff)
			}
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteWrapsTheWritersError(t *testing.T) {
	h := historyOf(Event{Kind: Start})
	for _, err := range []error{h.WriteText(fullDisk{}), h.WriteJSONL(fullDisk{})} {
		if !errors.Is(err, errFull) {
			t.Errorf("%v does not wrap the writer's error", err)
		}
	}
}

func TestWriteJSONL(t *testing.T) {
	var b bytes.Buffer
	h := historyOf(textCases[3].event, textCases[5].event,
		Event{Kind: Note, Key: "\xff", Note: "<é>"})
	if err := h.WriteJSONL(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"at_ns":1204210000,"proc":"landing/0","life":1,"kind":"reply",` +
		`"op":"OffsetCommit","nth":2,"outcome":"unknown","group":"landing","generation":-1,` +
		`"parts":[{"topic":"learning.progress","partition":0,"offset":5,` +
		`"err":"REBALANCE_IN_PROGRESS"}]}
{"seq":2,"at_ns":1,"kind":"observe","op":"log","parts":[{"topic":"dlq","partition":2,` +
		`"offset":0,"end":2,"stable":0,"records":[{"offset":0,"id":"ev-1",` +
		`"from":{"topic":"learning.progress","partition":1,"offset":5},"producer":2},` +
		`{"offset":1,"kind":"abort"}]}]}
{"seq":3,"at_ns":0,"kind":"note","key":{"base64":"/w=="},"note":"<é>"}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
