package model

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzParseText(f *testing.F) {
	for _, c := range textCases {
		f.Add(c.line)
	}
	for _, c := range badLines {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseText(line)
		if err != nil {
			return
		}
		printed := string(AppendText(nil, &e))
		again, err := ParseText(printed)
		if err != nil {
			t.Fatalf("%q\nprints as %q\n%v", line, printed, err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatalf("%q\nprints as %q\n%s", line, printed, diff)
		}
	})
}

func FuzzRead(f *testing.F) {
	whole := new(History)
	for _, c := range textCases {
		whole.Append(c.event)
	}
	for _, write := range forms {
		var b bytes.Buffer
		if err := write(whole, &b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, c := range badHistories {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := Read(bytes.NewReader(in))
		if err != nil {
			if s := err.Error(); bytes.ContainsAny([]byte(s), "\n\r\x00") {
				t.Fatalf("an error of more than one line: %q", s)
			}
			return
		}
		if diff := bothForms(h); diff != "" {
			t.Fatalf("%q\n%s", in, diff)
		}
	})
}
