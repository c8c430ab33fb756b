package hops

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBodyRoundTrip(t *testing.T) {
	lines := []Line{
		{Offset: 7, Timestamp: 1_772_352_000_000, Key: []byte("ada"),
			Value: []byte("{\"a\":\"<\n>\"}")},
		{Offset: 8, Reject: ReasonNotJSON},
		{Offset: 9, Hole: true},
		{Offset: 10, Timestamp: -1, Key: []byte("\xff\x00"), Value: []byte("\xfe")},
		{Offset: 11, Timestamp: 0, Key: nil, Value: nil},
		{Offset: 12, Timestamp: 1, Key: []byte{}, Value: []byte{}},
		{Offset: 13, Timestamp: 1, Key: []byte("\u2028\ufffd"), Value: []byte("é")},
	}
	const want = `{"offset":7,"timestamp":1772352000000,"key":"ada","value":"{\"a\":\"<\n>\"}"}
{"offset":8,"reject":"not-json"}
{"offset":9,"hole":true}
{"offset":10,"timestamp":-1,"key_b64":"/wA=","value_b64":"/g=="}
{"offset":11,"timestamp":0}
{"offset":12,"timestamp":1,"key":"","value":""}
{"offset":13,"timestamp":1,"key":"\u2028` + "\ufffd" + `","value":"é"}
`
	body := AppendBody(nil, lines...)
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Errorf("body: %s", diff)
	}
	got, err := ParseBody(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseBodyRefuses(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"nothing", "", "newline"},
		{"torn", `{"offset":1,"hole":true}`, "newline"},
		{"empty line", "\n", "decoding"},
		{"no offset", "{\"hole\":true}\n", "no offset"},
		{"negative offset", "{\"offset\":-1,\"hole\":true}\n", "no offset"},
		{"nothing said", "{\"offset\":1}\n", "neither"},
		{"two things", "{\"offset\":1,\"hole\":true,\"reject\":\"x\"}\n", "neither"},
		{"a reject with a value", "{\"offset\":1,\"reject\":\"x\",\"value\":\"y\"}\n", "neither"},
		{"unknown field", "{\"offset\":1,\"hole\":true,\"x\":1}\n", "unknown field"},
		{"two on a line", "{\"offset\":1,\"hole\":true}{}\n", "more than one"},
		{"both forms", "{\"offset\":1,\"timestamp\":1,\"key\":\"\",\"key_b64\":\"/w==\"}\n", "both"},
		{"a gap", "{\"offset\":1,\"hole\":true}\n{\"offset\":3,\"hole\":true}\n", "follows 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseBody([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one about %q", err, test.want)
			}
		})
	}
}

// FuzzParseBody holds that whatever parses survives being written and read again.
func FuzzParseBody(f *testing.F) {
	f.Add([]byte("{\"offset\":1,\"timestamp\":2,\"key\":\"k\",\"value_b64\":\"/w==\"}\n"))
	f.Add([]byte("{\"offset\":1,\"hole\":true}\n{\"offset\":2,\"reject\":\"not-json\"}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, err := ParseBody(body)
		if err != nil {
			return
		}
		written := AppendBody(nil, lines...)
		again, err := ParseBody(written)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", body, written, err)
		}
		if diff := cmp.Diff(lines, again); diff != "" {
			t.Fatal(diff)
		}
		if !bytes.Equal(written, AppendBody(nil, again...)) {
			t.Fatal("equal lines, other bytes")
		}
	})
}
