package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
)

// TestSaid has lives that said how they ended, after an event of many records, and lives
// that did not.
func TestSaid(t *testing.T) {
	long := model.Event{Seq: 1, Kind: model.Note, Note: strings.Repeat("x", 1<<20)}
	for name, test := range map[string]struct {
		events []model.Event
		cut    int
		want   bool
	}{
		"crash":     {[]model.Event{long, {Seq: 2, Kind: model.Crash}}, 0, true},
		"answers":   {[]model.Event{{Seq: 1, Kind: model.Crash}, long}, 0, true},
		"exit":      {[]model.Event{long, {Seq: 2, Kind: model.Exit}}, 0, true},
		"neither":   {[]model.Event{long}, 0, false},
		"cut short": {[]model.Event{long, {Seq: 2, Kind: model.Crash}}, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			var text []byte
			for _, e := range test.events {
				line, err := e.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				text = append(append(text, line...), '\n')
			}
			path := filepath.Join(t.TempDir(), "life.jsonl")
			if err := os.WriteFile(path, text[:len(text)-test.cut], 0o644); err != nil {
				t.Fatal(err)
			}
			if got := said(path); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if said(filepath.Join(t.TempDir(), "none")) {
		t.Error("a life without a file said how it ended")
	}
}
