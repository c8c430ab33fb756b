package stack

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sleeper is a stack whose one server is a program that does nothing.
func sleeper(t *testing.T) *Stack {
	t.Helper()
	return stackOf(t, Server{
		Name: "sleeper", Kind: "sleeper", Address: "127.0.0.1:1", Prepared: true,
		Command: Command{Program: programNamed(t, "sleep"), Args: []string{"600"}},
	})
}

func stackOf(t *testing.T, srv Server) *Stack {
	t.Helper()
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	s := &Stack{dir: filepath.Join(t.TempDir(), "stack"), id: newID()}
	for _, dir := range []string{s.folder(srv.Name), s.folder(logsName)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	st := State{Form: form, ID: s.id, Boot: boot, Since: time.Now(), Servers: []Server{srv}}
	if err := st.write(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pids, _ := marked(mark + "=" + s.id)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return s
}

func programNamed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// started launches the server and returns its process.
func started(t *testing.T, s *Stack) Process {
	t.Helper()
	if err := s.launch("sleeper"); err != nil {
		t.Fatal(err)
	}
	return recorded(t, s)
}

func recorded(t *testing.T, s *Stack) Process {
	t.Helper()
	st, err := s.State()
	if err != nil {
		t.Fatal(err)
	}
	return st.server("sleeper").Process
}

func alive(p Process) bool {
	start, ok := startTicks(p.PID)
	return ok && start == p.Start
}

func down(t *testing.T, s *Stack) Stopped {
	t.Helper()
	stopped, err := s.Down(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("down left the folder: %v", err)
	}
	return stopped
}

func TestDownStopsWhatWasStarted(t *testing.T) {
	s := sleeper(t)
	p := started(t, s)
	if !alive(p) {
		t.Fatal("the server does not run")
	}
	stopped := down(t, s)
	if alive(p) || len(stopped.Names) != 1 {
		t.Errorf("the server runs: %v, down says %+v", alive(p), stopped)
	}
}

func TestServerIsLeaderOfItsSession(t *testing.T) {
	s := sleeper(t)
	p := started(t, s)
	if group, err := syscall.Getpgid(p.PID); err != nil || group != p.PID {
		t.Errorf("process group %d, %v: a Ctrl-C here would reach process %d", group, err, p.PID)
	}
	if err := s.Kill(t.Context(), "sleeper"); err != nil {
		t.Fatal(err)
	}
}

// TestSecondUp refuses and leaves the first alone.
func TestSecondUp(t *testing.T) {
	s := sleeper(t)
	p := started(t, s)
	_, err := Up(t.Context(), Options{Dir: s.dir, Brokers: 3})
	if !errors.Is(err, ErrUp) || !strings.Contains(err.Error(), "sleeper") {
		t.Errorf("a second up: %v, want that the sleeper is up", err)
	}
	if !alive(p) || recorded(t, s) != p {
		t.Error("a second up touched the first")
	}
	if err := s.launch("sleeper"); err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("a second start: %v", err)
	}
}

// TestUpMeanwhile refuses while another up or down is at work.
func TestUpMeanwhile(t *testing.T) {
	s := sleeper(t)
	release, err := lockFile(s.folder(workName), false)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := Up(t.Context(), Options{Dir: s.dir, Brokers: 3}); !errors.Is(err, ErrBusy) {
		t.Errorf("up: %v, want %v", err, ErrBusy)
	}
	if _, err := s.Down(t.Context(), false); !errors.Is(err, ErrBusy) {
		t.Errorf("down: %v, want %v", err, ErrBusy)
	}
}

// TestRecycledProcessID has the id of a server pass to a process that is none of
// ours: it must live.
func TestRecycledProcessID(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*State)
	}{
		{"another start", func(st *State) { st.Servers[0].Process.Start-- }},
		{"another boot", func(st *State) { st.Boot = "another" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := sleeper(t)
			other := exec.Command("sleep", "600")
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = other.Process.Kill()
				_ = other.Wait() // ends by the signal
			}()
			start, ok := startTicks(other.Process.Pid)
			p := Process{other.Process.Pid, start}
			err := change(s.dir, func(st *State) error {
				st.Servers[0].Process = p
				test.change(st)
				return nil
			})
			if err != nil || !ok {
				t.Fatal(err, ok)
			}
			if err := s.Kill(t.Context(), "sleeper"); err != nil || !alive(p) {
				t.Fatalf("kill: %v, the other process lives: %v", err, alive(p))
			}
			stopped := down(t, s)
			if !alive(p) || len(stopped.Names) != 0 {
				t.Errorf("the other process lives: %v, down says %+v", alive(p), stopped)
			}
		})
	}
}

// TestUpThatWasKilled has a process that was started and not written down.
func TestUpThatWasKilled(t *testing.T) {
	s := sleeper(t)
	p := started(t, s)
	err := change(s.dir, func(st *State) error {
		st.Servers[0].Process = Process{}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Up(t.Context(), Options{Dir: s.dir, Brokers: 3}); !errors.Is(err, ErrUp) {
		t.Errorf("up: %v, want %v", err, ErrUp)
	}
	stopped := down(t, s)
	if alive(p) || len(stopped.Others) != 1 {
		t.Errorf("the process lives: %v, down says %+v", alive(p), stopped)
	}
}

// TestProcessThatNobodyWaitsFor is gone when it has ended, though its parent has not
// looked: where nobody adopts orphans it stays in /proc for ever.
func TestProcessThatNobodyWaitsFor(t *testing.T) {
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start, ok := startTicks(cmd.Process.Pid)
	p := Process{cmd.Process.Pid, start}
	if !ok || !p.runs(boot) {
		t.Errorf("process %v does not run", p)
	}
	if err := end(t.Context(), p, boot, syscall.SIGTERM); err != nil || p.runs(boot) {
		t.Errorf("ending it: %v, it runs: %v", err, p.runs(boot))
	}
	_ = cmd.Wait() // ended by the signal
}

func TestKeep(t *testing.T) {
	s := sleeper(t)
	p := started(t, s)
	data := filepath.Join(s.folder("sleeper"), "data")
	if err := os.WriteFile(data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Down(t.Context(), true); err != nil || alive(p) || !isFile(data) {
		t.Fatalf("down: %v, lives: %v, data: %v", err, alive(p), isFile(data))
	}
	if err := s.launch("sleeper"); err == nil {
		t.Error("a server of a stack that went down was started")
	}
	if err := s.again(); err != nil {
		t.Fatal(err)
	}
	if p := started(t, s); !alive(p) {
		t.Error("a kept stack does not start again")
	}
	down(t, s)
}

// TestFoldersOfOthers: up takes no folder with something else in it, and down leaves
// what it did not make.
func TestFoldersOfOthers(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "kafka-1")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Up(t.Context(), Options{Dir: dir, Brokers: 3})
	if err == nil || !strings.Contains(err.Error(), "holds kafka-1 and no stack") {
		t.Errorf("up in a folder with a file: %v", err)
	}
	if !isFile(mine) {
		t.Error("up removed a file")
	}
	s := sleeper(t)
	mine = s.folder("notes.txt")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Down(t.Context(), false); err != nil || !isFile(mine) {
		t.Errorf("down: %v, the file is there: %v", err, isFile(mine))
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) != 1 {
		t.Errorf("down left %v, %v", entries, err)
	}
}

// TestServerThatEnds is reported at once, with what it said last.
func TestServerThatEnds(t *testing.T) {
	s := stackOf(t, Server{
		Name: "sleeper", Kind: "sleeper", Prepared: true, Command: Command{
			Program: programNamed(t, "sh"), Args: []string{"-c", "echo no space left >&2; exit 1"},
		},
	})
	if err := s.launch("sleeper"); err != nil {
		t.Fatal(err)
	}
	err := s.await(t.Context(), "sleeper", func(context.Context) error { return errors.New("no") })
	if err == nil || !strings.Contains(err.Error(), "sleeper has ended") ||
		!strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

// TestInterrupted: a wait that was cut short says nothing about the server.
func TestInterrupted(t *testing.T) {
	s := sleeper(t)
	started(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.await(ctx, "sleeper", func(context.Context) error {
		cancel()
		return errors.New("connection refused")
	})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

func TestPorts(t *testing.T) {
	const salt = 12345
	before, err := freePorts(3, salt)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address(before[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ports, err := freePorts(8, salt)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int]bool)
	for _, port := range ports {
		if seen[port] || port == before[1] || port < lowestPort || port >= ephemeral() {
			t.Errorf("port %d of %v: %d is taken, outgoing connections begin at %d",
				port, ports, before[1], ephemeral())
		}
		seen[port] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d ports, want 8", len(seen))
	}
}

// bare is a machine with nothing on it.
func bare(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	t.Setenv("KAFKA_HOME", "")
	t.Setenv("POSTGRES_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func TestMissing(t *testing.T) {
	bare(t)
	dir := filepath.Join(t.TempDir(), "stack")
	_, err := Up(t.Context(), Options{Dir: dir, Brokers: 3})
	var missing *Missing
	if !errors.As(err, &missing) || len(missing.Needs) != 4 {
		t.Fatalf("got %v, want four things missing", err)
	}
	for _, want := range []string{
		"Java 17 or later: apt-get install default-jre-headless, or set JAVA_HOME",
		"Maven, to fetch Kafka: apt-get install maven, or set KAFKA_HOME",
		"PostgreSQL 14 or later (POSTGRES_HOME has no bin/initdb", "apt-get install postgresql",
		"Go, to build the S3 server", "`live up --install`",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was left: %v", err)
	}
}

// script writes a program for a test.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPrograms(t *testing.T) {
	bare(t)
	home := t.TempDir()
	t.Setenv("JAVA_HOME", home)
	if _, n := findJava(t.Context()); n == nil || !strings.Contains(n.Why, "no bin/java") {
		t.Errorf("an empty JAVA_HOME: %+v", n)
	}
	java := filepath.Join(home, "bin", "java")
	script(t, java, `echo 'openjdk version "11.0.2" 2019-01-15' >&2`)
	if _, n := findJava(t.Context()); n == nil || !strings.Contains(n.Why, "is version 11") {
		t.Errorf("Java 11: %+v", n)
	}
	script(t, java, `echo 'openjdk version "21" 2023-09-19' >&2`)
	if got, n := findJava(t.Context()); n != nil || got != java {
		t.Errorf("Java 21: %q, %+v", got, n)
	}

	home = t.TempDir()
	t.Setenv("POSTGRES_HOME", home)
	script(t, filepath.Join(home, "bin", "initdb"), "")
	script(t, filepath.Join(home, "bin", "postgres"), "echo 'postgres (PostgreSQL) 9.6.24'")
	if _, _, n := findPostgres(t.Context()); n == nil || !strings.Contains(n.Why, "9.6.24") {
		t.Errorf("PostgreSQL 9.6: %+v", n)
	}
	server := filepath.Join(home, "bin", "postgres")
	script(t, server, "echo 'postgres (PostgreSQL) 18.1 (Debian)'")
	if _, version, n := findPostgres(t.Context()); n != nil || version != "18.1" {
		t.Errorf("PostgreSQL 18: %q, %+v", version, n)
	}

	home = t.TempDir()
	t.Setenv("KAFKA_HOME", home)
	if _, n := findJars(Options{}); n == nil || !strings.Contains(n.Why, "no libs/kafka_2") {
		t.Errorf("an empty KAFKA_HOME: %+v", n)
	}
	script(t, filepath.Join(home, "libs", "kafka_2.13-4.0.1.jar"), "")
	jars, n := findJars(Options{})
	if n != nil {
		t.Fatal(n)
	}
	path, version, err := jars(t.Context(), nil)
	if err != nil || path != filepath.Join(home, "libs", "*") || version != "4.0.1" {
		t.Errorf("KAFKA_HOME: %q, %q, %v", path, version, err)
	}
}

// TestCache keeps nothing of a try that failed, and asks once where one did not.
func TestCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	wrong := errors.New("no network")
	if _, err := cached("x", func(string) error { return wrong }); !errors.Is(err, wrong) {
		t.Fatalf("got %v", err)
	}
	fills := 0
	for range 2 {
		dir, err := cached("x", func(dir string) error {
			fills++
			return os.WriteFile(filepath.Join(dir, "jar"), nil, 0o600)
		})
		if err != nil || !isFile(filepath.Join(dir, "jar")) {
			t.Fatalf("%q, %v", dir, err)
		}
	}
	base, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != 1 || fills != 1 {
		t.Errorf("filled %d times, the cache holds %v, %v", fills, entries, err)
	}
}

func TestReachable(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	err := reachable(filepath.Join(closed, "stack"))
	if err == nil || !strings.Contains(err.Error(), closed+" has mode -rwx------") {
		t.Errorf("got %v", err)
	}
	if err := reachable("/"); err != nil {
		t.Errorf("the root: %v", err)
	}
}
