package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

// asProgram makes the test binary be live.
const asProgram = "LIVE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// runHere runs live in this process.
func runHere(t *testing.T, args ...string) (out, stderr string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, streams{out: &o, err: &e})
	return o.String(), e.String(), status
}

// TestBadInput has what a user can get wrong: one line says so, and nothing is
// started.
func TestBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		name   string
		args   []string
		want   string
		status int
	}{
		{"no such command", []string{"dwon"}, `(did you mean "down"?)`, statusWrongUse},
		{"no such flag", []string{"up", "--broker", "3"}, `mean "--brokers"?)`, statusWrongUse},
		{"no brokers", []string{"up", "--brokers", "0"}, "--brokers 0: want 1", statusWrongUse},
		{"many brokers", []string{"up", "--brokers", "100"}, "100: want 1", statusWrongUse},
		{"an argument", []string{"down", "now"}, `unknown command "now"`, statusWrongUse},
		{"no stack", []string{"status"}, "no stack in", statusNotRun},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, stderr, status := runHere(t, test.args...)
			if status != test.status || out != "" {
				t.Errorf("status %d and output %q, want %d and none", status, out, test.status)
			}
			if !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%q is not all of: %s", test.want, stderr)
			}
		})
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestDownOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	out, stderr, status := runHere(t, "down", "--dir", dir)
	if status != 0 || stderr != "" || out != "nothing is up in "+dir+"\n" {
		t.Errorf("status %d, %q, %q", status, out, stderr)
	}
	out, _, _ = runHere(t, "down", "--dir", dir, "--json")
	var l downLine
	if err := json.Unmarshal([]byte(out), &l); err != nil || l.Kind != "down" || l.Dir != dir {
		t.Errorf("%q: %+v, %v", out, l, err)
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out, stderr, status := runHere(t, "up", "--dir", filepath.Join(t.TempDir(), "none"))
	if status != statusNotRun || out != "" {
		t.Errorf("status %d and output %q, want %d and none", status, out, statusNotRun)
	}
	if !strings.Contains(stderr, "live: missing Java 17") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("got %s", stderr)
	}
}

// TestEnvironmentIsForAShell has what up prints read by a shell.
func TestEnvironmentIsForAShell(t *testing.T) {
	var out bytes.Buffer
	st := stack.State{Servers: []stack.Server{
		{Name: "kafka-1", Kind: stack.Kafka, Address: "127.0.0.1:1"},
		{Name: "s3", Kind: stack.S3, Address: "127.0.0.1:2"},
	}}
	p := &program{streams: streams{out: &out}}
	if err := p.printUp(st, "a folder", 0); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sh", "-euc", out.String()+`
		printf %s "$HOPCHECK_BROKERS $HOPCHECK_S3_ENDPOINT $HOPCHECK_S3_BUCKET"`)
	got, err := shell.CombinedOutput()
	if want := "127.0.0.1:1 http://127.0.0.1:2 hopcheck"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
