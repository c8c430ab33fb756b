package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/cmd/live/supervise"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
)

// TestRefuses has what live mode must not touch: one line says why, and nothing is
// started or left.
func TestRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{
		"HOPCHECK_BROKERS": "kafka.example.com:9092", "HOPCHECK_S3_BUCKET": "b",
		"HOPCHECK_S3_ENDPOINT": "http://127.0.0.1:1", "AWS_REGION": "r",
	} {
		t.Setenv(name, value)
	}
	elsewhere := `{"id":"elsewhere","world":"landing","target":{` +
		`"brokers":["kafka.example.com:9092"],"s3_endpoint":"http://127.0.0.1:1"}}`
	old := filepath.Join("old", "elsewhere")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "run.json"), []byte(elsewhere), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"a run elsewhere", []string{"run", "--world", "landing"}, "example.com:9092 is not of this"},
		{"a clean elsewhere", []string{"clean", "--run", "elsewhere", "--out", "old"}, "--yes"},
		{"an audit elsewhere", []string{"audit", "--run", "elsewhere", "--out", "old"}, "--yes"},
		{"no run", []string{"clean"}, "which run?"},
		{"a path", []string{"clean", "--run", "../old/elsewhere"}, "is no id of a run"},
		{"another run", []string{"clean", "--run", "abcdefgh"}, "no run abcdefgh"},
		{"no world", []string{"run"}, "no --world"},
		{"a wrong world", []string{"run", "--world", "landin"}, `(did you mean "landing"?)`},
		{"no events", []string{"run", "--world", "landing", "--events", "0"}, "want 1 or more"},
		{"no file", []string{"run", "--world", "landing", "--events", "f"}, "reading events"},
		{"crashes", []string{"run", "--world", "landing", "--crashes", "-1"}, "--crashes -1"},
		{"no schedule", []string{"run", "--schedule", "f"}, "reading a schedule"},
		{"a life", []string{"process"}, "`live run` starts processes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, stderr, status := runHere(t, test.args...)
			if status != statusWrongUse || out != "" {
				t.Errorf("status %d and output %q, want %d and none", status, out, statusWrongUse)
			}
			if !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%q is not all of: %s", test.want, stderr)
			}
		})
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// TestRefusesWhileItGoesOn has a run that holds its lock.
func TestRefusesWhileItGoesOn(t *testing.T) {
	dir := t.TempDir()
	f := supervise.Folder(filepath.Join(dir, "abcdefgh"))
	if err := os.Mkdir(string(f), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := `{"id":"abcdefgh","world":"landing","target":{` +
		`"brokers":["127.0.0.1:1"],"s3_endpoint":"http://127.0.0.1:1"}}`
	err := os.WriteFile(filepath.Join(string(f), "run.json"), []byte(manifest), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	release, err := f.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, command := range []string{"clean", "audit"} {
		_, stderr, status := runHere(t, command, "--run", "abcdefgh", "--out", dir)
		if status != statusNotRun || !strings.Contains(stderr, "the run goes on") {
			t.Errorf("%s: status %d, %s", command, status, stderr)
		}
	}
}

// TestDrawn wants as many crashes as were asked for, one in a life, the same for a seed.
func TestDrawn(t *testing.T) {
	w := mustWorld(t, "landing")
	for seed := range uint64(50) {
		s, err := drawCrashes(w, seed, 3)
		if err != nil || len(s.Faults) != 3 {
			t.Fatalf("seed %d: %v, %v", seed, s, err)
		}
		lives := make(map[[2]any]bool)
		for _, f := range s.Faults {
			at := [2]any{f.At().Proc, f.At().Life}
			if lives[at] {
				t.Errorf("seed %d: two deaths in one life: %s", seed, s)
			}
			lives[at] = true
		}
		if again, _ := drawCrashes(w, seed, 3); again.String() != s.String() {
			t.Errorf("seed %d: drawn again it is another", seed)
		}
	}
}

func mustWorld(t *testing.T, name string) worlds.World {
	t.Helper()
	w, err := worlds.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
