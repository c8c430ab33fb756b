package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
)

// asProgram makes the test binary be simrun.
const asProgram = "SIMRUN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// runProgram runs simrun in a process of its own, in an empty folder.
func runProgram(t *testing.T, args ...string) (out, stderr string, status int) {
	t.Helper()
	if !sim.Simulates {
		t.Skip("this build cannot simulate")
	}
	cmd := command(t, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Dir = t.TempDir()
	return cmd
}

// runHere runs simrun in this process: for what starts no workers.
func runHere(args ...string) (out, stderr string, status int) {
	var o, e bytes.Buffer
	status = run(context.Background(), args, streams{out: &o, err: &e})
	return o.String(), e.String(), status
}

// file writes a file for a test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadInput has what a user can get wrong: one line says so, the status is 2, and
// nothing is written.
func TestBadInput(t *testing.T) {
	if !sim.Simulates {
		t.Skip("this build refuses earlier")
	}
	events := func(text string) []string {
		return []string{"run", "--world", "landing", "--events", file(t, "events.jsonl", text)}
	}
	replay := func(text string) []string {
		return []string{"replay", file(t, "f.schedule", text)}
	}
	history := file(t, "f.history.jsonl", "{\"seq\":1,\"at_ns\":0,\"kind\":\"heal\"}\n{\"seq\":2,")
	tests := []refusal{
		{"no such command", []string{"replai"}, `no command "replai" (did you mean "replay"?)`},
		{"no such flag", []string{"run", "--shedules", "3"}, `(did you mean "--schedules"?)`},
		{"a flag's value", []string{"run", "--schedules", "many"}, "invalid argument"},
		{"argument of run", []string{"run", "landing"}, `takes no argument "landing"`},
		{"no schedules", []string{"run", "--schedules", "0"}, "--schedules 0: want 1 to"},
		{"no workers", []string{"run", "--workers", "0"}, "--workers 0: want 1 to"},
		{"schedules and time", []string{"run", "--schedules", "1", "--for", "1s"}, "[for schedules]"},
		{"shard", []string{"run", "--shard", "0/4"}, `--shard "0/4": want i/n`},
		{"unknown world", []string{"run", "--world", "moon"}, `no world "moon"; there are`},
		{"unknown mutant", []string{"run", "--mutant", "m"}, `no mutant "m"; there are`},
		{"unknown mutants", []string{"mutants", "m"}, `no mutant "m"; there are`},
		{"seeds", []string{"mutants", "--seeds", "0"}, "--seeds 0: want 1 to"},
		{"events missing", []string{"run", "--events", "no-such-file"}, "no such file"},
		{"events empty", events(""), "the file is empty"},
		{"events cut off", events("{\"a\":1}\n{\"a\":"), "line 2: the last line is cut off"},
		{"events binary", events("{\"a\":1}\nab\x00c\n"), "line 2, column 3: a NUL byte"},
		{"events too long", events(strings.Repeat("a", maxEventLine+1) + "\n"), "line 1: longer"},
		{"events folder", []string{"run", "--events", t.TempDir()}, "is a directory"},
		{"no schedule file", []string{"replay", "no-such-file"}, "no such file"},
		{"no schedule at all", []string{"replay"}, "want one SCHEDULE, got 0"},
		{"bad schedule", replay("world landing\nseed 1\ncrush landing/0 life 1\n"), "f.schedule:3:1"},
		{"schedule of no world", replay("# so\n\nworld moon\nseed 1\n"), `f.schedule:3:7: there is no world`},
		{"schedule of no mutant", replay("world landing\nmutant m\nseed 1\n"), `f.schedule:2:8: there is no`},
		{"schedule of no process", replay("world landing\nseed 1\n" +
			"crash landing/0 life 1 before request Fetch 1\n" +
			"crash moon/0 life 1 before request Fetch 1\n"),
			`f.schedule:4:7: world landing has no process "moon/0"`},
		{"times", append(replay("world landing\nseed 1\n"), "--times", "0"), "--times 0: want 1 to"},
		{"history missing", []string{"judge", "no-such-file", "--world", "landing"}, "no such file"},
		{"history corrupt", []string{"judge", history, "--world", "landing"}, "line 2"},
		{"history of no world", []string{"judge", file(t, "h", "1 0s - heal\n")}, "--world is missing"},
		{"judged by no world", []string{"judge", file(t, "h", "1 0s - heal\n"), "--world", "moon"},
			`no world "moon"`},
		{"report of a corrupt one", []string{"report", history}, "line 2"},
		{"form of report", []string{"report", history, "--format", "pdf"}, `--format "pdf": want html`},
		{"list of nothing", []string{"list", "mutnats"}, `(did you mean "mutants"?)`},
		{"merge of nothing", []string{"merge"}, "want files of results"},
		{"merge of no results", []string{"merge", file(t, "r", "{}\n")}, `r:1: cannot add up`},
		{"merge of no JSON", []string{"merge", file(t, "r", "\nx\n")}, "r:2: no line of results"},
		{"merge of an empty file", []string{"merge", file(t, "r", "")}, "the file is empty"},
		{"events lines", []string{"events", "--lines", "0"}, "--lines 0: want 1 to"},
	}
	refuse(t, tests)
}

// refusal is what is typed, and a part of what must be answered.
type refusal struct {
	name string
	args []string
	want string
}

func refuse(t *testing.T, tests []refusal) {
	t.Chdir(t.TempDir())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, stderr, status := runHere(test.args...)
			if status != statusWrongUse || out != "" {
				t.Errorf("status %d and output %q, want %d and none", status, out, statusWrongUse)
			}
			if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
				t.Errorf("said %q, want one line with %q", stderr, test.want)
			}
		})
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNeedsTag runs in builds that cannot simulate.
func TestNeedsTag(t *testing.T) {
	if sim.Simulates {
		t.Skip("this build can simulate")
	}
	for _, args := range [][]string{{}, {"run"}, {"replay", "x"}, {"mutants"}} {
		out, stderr, status := runHere(args...)
		want := "simrun: " + sim.ErrNeedsTag.Error() + "\n"
		if status != statusNotRun || out != "" || stderr != want {
			t.Errorf("simrun %v: status %d, output %q, errors %q", args, status, out, stderr)
		}
	}
}

func TestList(t *testing.T) {
	for _, args := range [][]string{
		{"list"}, {"list", "worlds"}, {"list", "mutants"}, {"list", "promises"}, {"list", "faults"},
		{"list", "--json"}, {"help"}, {"run", "--help"},
	} {
		out, stderr, status := runHere(args...)
		if status != 0 || stderr != "" || len(out) < 100 {
			t.Errorf("simrun %v: status %d, output %q, errors %q", args, status, out, stderr)
		}
		for i, line := range strings.Split(out, "\n") {
			if args[len(args)-1] != "--json" && width(line) > 120 {
				t.Errorf("simrun %v: line %d is too wide: %q", args, i+1, line)
			}
		}
	}
}
