package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/supervise"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// lifeFile writes events in the form in which lives do.
func lifeFile(t *testing.T, f supervise.Folder, proc string, events ...model.Event) string {
	t.Helper()
	var text strings.Builder
	for i, e := range events {
		e.Seq, e.Proc, e.Life = int64(i)+1, proc, 1
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	path := f.Events(proc, 1)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func at(ms int, k model.Kind, of int64) model.Event {
	return model.Event{At: time.Duration(ms) * time.Millisecond, Kind: k, Op: "put", Of: of}
}

// TestMerge has two lives whose events alternate, and the last line of one cut short.
func TestMerge(t *testing.T) {
	f := supervise.Folder(t.TempDir())
	a := at(3, model.Reply, 1)
	a.Member, a.Producer = "long-id-b", 9001
	b := at(4, model.Reply, 2)
	b.Member, b.Producer = "long-id-a", 9000
	lifeFile(t, f, "a/0", at(1, model.Call, 0), a, at(9, model.Call, 0))
	path := lifeFile(t, f, "b/0", at(2, model.Start, 0), at(3, model.Call, 0), b,
		at(5, model.Call, 0))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := f.Merge(tap.NewNames(nil))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := h.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := `1 0.001s a/0 life 1 call put
2 0.002s b/0 life 1 start put
3 0.003s a/0 life 1 reply put of=1 producer=1 epoch=0 member=m1
4 0.003s b/0 life 1 call put
5 0.004s b/0 life 1 reply put of=4 producer=2 epoch=0 member=m2
6 0.009s a/0 life 1 call put
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
	if _, err := model.Read(strings.NewReader(text.String())); err != nil {
		t.Error(err)
	}
}

// TestMergeDamage refuses files in which something is missing.
func TestMergeDamage(t *testing.T) {
	for name, damage := range map[string]func(lines []string) []string{
		"events are missing": func(l []string) []string { return append(l[:1:1], l[2:]...) },
		"the clock went back": func(l []string) []string {
			l[2] = strings.Replace(l[2], "3000000", "1", 1)
			return l
		},
		"unknown kind": func(l []string) []string {
			l[0] = strings.Replace(l[0], `"call"`, `"cull"`, 1)
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := supervise.Folder(t.TempDir())
			path := lifeFile(t, f, "a/0", at(1, model.Call, 0), at(2, model.Call, 0),
				at(3, model.Call, 0))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := damage(strings.SplitAfter(string(b), "\n"))
			if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = f.Merge(tap.NewNames(nil))
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestFind refuses what is no run, before anything is looked for at a server.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"", "../abcdef", "abcdef", "a"} {
		if _, _, err := supervise.Find(dir, id); err == nil {
			t.Errorf("%q is taken for a run", id)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "abcdef"), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "abcdef", "run.json")
	if err := os.WriteFile(manifest, []byte(`{"id":"ghijkl"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := supervise.Find(dir, "abcdef"); err == nil {
		t.Error("a folder of another run is taken for this one")
	}
}
