//go:build synctests

package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// checked names the world that a child of these tests checks.
const checked = "HOPCHECK_TEST_CHECK"

// TestChecked is what a user writes. It does nothing unless it is a child.
func TestChecked(t *testing.T) {
	w := copierWorld(2, copier)
	switch os.Getenv(checked) {
	case "":
		t.Skip("the tests of Check start this one in programs of their own")
	case "right":
	case "wrong":
		w.Processes[0].Run = hasty
	case "canary":
		w.Promises = append(w.Promises, always("canary"))
	case "vacuous":
		w.Sometimes = []props.Sometimes{{
			Name: "eclipse", Says: "The sun was eclipsed.",
			Seen: func(*model.History) bool { return false },
		}}
	}
	sim.Check(t, w, sim.Schedules(20), sim.Seed(3))
}

// check runs TestChecked in dir as a program of its own.
func check(t *testing.T, dir, world string, flags ...string) (out string, passed bool) {
	t.Helper()
	args := append([]string{"-test.run=^TestChecked$", "-test.v"}, flags...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), checked+"="+world)
	text, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(text), err == nil
}

// has fails t unless out has all texts.
func has(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

func saved(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "testdata", "schedules", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		if paths[i], err = filepath.Rel(dir, p); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestShout is the test of the example.
func TestShout(t *testing.T) { sim.Check(t, shoutWorld, sim.Schedules(40)) }

func TestCheckHolds(t *testing.T) {
	dir := t.TempDir()
	if out, passed := check(t, dir, "right"); !passed {
		t.Errorf("failed:\n%s", out)
	}
	if files := saved(t, dir); len(files) > 0 {
		t.Errorf("saved %v", files)
	}
}

// TestCheckBreaks follows a failure from its finding to its fix.
func TestCheckBreaks(t *testing.T) {
	dir := t.TempDir()
	out, passed := check(t, dir, "wrong")
	if passed {
		t.Fatalf("passed:\n%s", out)
	}
	files := saved(t, dir)
	if len(files) != 1 ||
		!regexp.MustCompile(`/copier-\d+\.schedule$`).MatchString(filepath.ToSlash(files[0])) {
		t.Fatalf("saved %v", files)
	}
	replay := "-hopcheck.replay " + files[0]
	has(t, out, "broken: stored/in", "replayed 5 times: broken again 5/5",
		"replay: go test -tags synctests -run '^TestChecked$' . "+replay+"\n")

	t.Run("the saved schedule first", func(t *testing.T) {
		out, passed := check(t, dir, "wrong")
		if passed {
			t.Error("passed")
		}
		has(t, out, files[0]+": same execution, event by event", "broken: stored/in",
			"schedule (1 fault):", "\n        replayed ")
		if again := saved(t, dir); len(again) != 1 {
			t.Errorf("saved %v", again)
		}
	})
	t.Run("replay", func(t *testing.T) {
		out, passed := check(t, t.TempDir(), "wrong", "-hopcheck.replay",
			filepath.Join(dir, files[0]))
		if passed {
			t.Error("passed")
		}
		has(t, out, "same execution, event by event", "broken: stored/in")
	})
	t.Run("fixed", func(t *testing.T) {
		out, passed := check(t, dir, "right")
		if !passed {
			t.Error("failed")
		}
		has(t, out, files[0]+": another execution than the recorded one")
	})
	t.Run("replay of another world", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s.schedule")
		if err := (schedule.Schedule{World: "other"}).Save(path); err != nil {
			t.Fatal(err)
		}
		out, _ := check(t, dir, "right", "-hopcheck.replay", path)
		has(t, out, "--- SKIP", "of world other, not of copier")
	})
}

func TestCheckCanary(t *testing.T) {
	dir := t.TempDir()
	out, passed := check(t, dir, "canary")
	if passed || len(saved(t, dir)) != 1 {
		t.Errorf("passed: %v, saved %v", passed, saved(t, dir))
	}
	has(t, out, "broken: canary: Nothing ever happens.", "(0 faults;", " replay: go test ")
}

func TestCheckNeverSeen(t *testing.T) {
	out, passed := check(t, t.TempDir(), "vacuous")
	if passed {
		t.Error("passed although nothing of the sort was seen")
	}
	has(t, out, "never seen in 20 schedules: eclipse (The sun was eclipsed.)")
}

func TestCheckFlags(t *testing.T) {
	dir := t.TempDir()
	out, _ := check(t, dir, "vacuous", "-hopcheck.schedules=2", "-hopcheck.seed=99")
	has(t, out, "never seen in 2 schedules", "hopcheck: seed 99\n")
	out, _ = check(t, dir, "vacuous", "-hopcheck.schedules=1", "-hopcheck.seed=0")
	if !regexp.MustCompile(`hopcheck: seed \d{12,}\n`).MatchString(out) {
		t.Errorf("seed 0 is not from the clock:\n%s", out)
	}
}

func TestCheckOfWhatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"corrupt", "world copier\nseed 1\ncrash copier/0 life 1 after lunch\n",
			".schedule:3",
		},
		{
			"of a process that is gone",
			"world copier\nseed 1\ncrash copier/7 life 1 after request OffsetCommit 1\n",
			"copier/7",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join("testdata", "schedules", "copier-1.schedule")
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{nil, {"-hopcheck.replay", name}} {
				out, passed := check(t, dir, "right", flags...)
				if passed {
					t.Error("passed")
				}
				has(t, out, name, c.want)
			}
		})
	}
	out, passed := check(t, t.TempDir(), "right", "-hopcheck.replay", "nowhere.schedule")
	if passed {
		t.Error("passed without the file to replay")
	}
	has(t, out, "nowhere.schedule")
}

// stranger is a test of another sort.
type stranger struct {
	testing.TB
	said string
}

func (s *stranger) Helper() {}

func (s *stranger) Fatalf(format string, args ...any) {
	s.said = format
	runtime.Goexit()
}

func TestCheckNeedsATest(t *testing.T) {
	s := &stranger{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		sim.Check(s, copierWorld(1, copier))
	}()
	<-done
	if !strings.Contains(s.said, "needs a *testing.T") {
		t.Errorf("said %q", s.said)
	}
}
