package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("testdata/events-500.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSample wants the committed sample to be what the command writes:
// go run ./cmd/simrun events --lines 500 --seed 1
func TestSample(t *testing.T) {
	out, _, status := runHere("events", "--lines", "500", "--seed", "1")
	text, err := os.ReadFile(sample(t))
	if err != nil || status != 0 {
		t.Fatal(err, status)
	}
	if !bytes.Equal(text, []byte(out)) {
		t.Errorf("testdata/events-500.jsonl is not what `simrun events` writes; write it again")
	}
	values, err := loadEvents(sample(t), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	beyond := 0
	for _, v := range values {
		seen[string(v)]++
		if bytes.ContainsFunc(v, func(r rune) bool { return r > 0x7f }) {
			beyond++
		}
	}
	if len(values) != 500 || len(seen) > 490 || beyond < 50 {
		t.Errorf("%d lines, %d of them distinct, %d not ASCII", len(values), len(seen), beyond)
	}
}

func TestReadEvents(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"lines", "{}\n[1]\n", []string{"{}", "[1]"}},
		{"whatever they hold", "no json\n\n\xff\r\n", []string{"no json", "", "\xff\r"}},
		{"no last newline, but whole", "{}\n{\"a\":1}", []string{"{}", `{"a":1}`}},
		{"as long as can be", strings.Repeat("a", maxEventLine) + "\n",
			[]string{strings.Repeat("a", maxEventLine)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			values, err := readEvents(strings.NewReader(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range values {
				got = append(got, string(v))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if _, err := readEvents(strings.NewReader(strings.Repeat("\n", maxEvents+1))); err == nil {
		t.Error("too many lines were read")
	}
}
