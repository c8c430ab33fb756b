//go:build live && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

// command is live in a process of its own.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// patience bounds each step on a busy machine.
const patience = 3 * time.Minute

// TestLive runs on real servers: `go test -tags 'synctests live' ./cmd/live`. What is
// missing for them is a failure, with a line that says how to get it.
func TestLive(t *testing.T) {
	dir, err := os.MkdirTemp("", "hopcheck-live-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // user postgres must pass
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "stack")
	t.Cleanup(func() {
		_, _ = command(context.Background(), "down", "--dir", dir).CombinedOutput()
		if !t.Failed() {
			_ = os.RemoveAll(filepath.Dir(dir))
		}
	})
	out := live(t, 0, "up", "--dir", dir)
	t.Logf("up:\n%s", out)
	s, err := stack.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	st := stateOf(t, s)
	// The program that started them has ended.
	out = live(t, 0, "status", "--dir", dir)
	if strings.Count(out, "answers") != 5 {
		t.Errorf("status:\n%s", out)
	}
	out = live(t, statusNotRun, "up", "--dir", dir)
	if !strings.Contains(out, "a stack is up in "+dir) {
		t.Errorf("a second up: %s", out)
	}

	t.Run("kafka", func(t *testing.T) { kafka(t, s) })
	t.Run("postgres", func(t *testing.T) { postgres(t, s) })
	t.Run("s3", func(t *testing.T) { objects(t, s) })
	t.Run("run", func(t *testing.T) { runs(t, s) })

	out = live(t, 0, "down", "--dir", dir, "--json")
	var l downLine
	if err := json.Unmarshal([]byte(out), &l); err != nil || len(l.Stopped) != 5 || l.Others != 0 {
		t.Errorf("down: %q, %v", out, err)
	}
	if left := leftovers(t, st.ID, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

// live runs live as a program and returns what it printed.
func live(t *testing.T, status int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("live %s: %v, want status %d\n%s", strings.Join(args, " "), err, status, &out)
	}
	return out.String()
}

func stateOf(t *testing.T, s *stack.Stack) stack.State {
	t.Helper()
	st, err := s.State()
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// leftovers are the processes that were started for the stack, or work in it.
func leftovers(t *testing.T, id, dir string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, proc := range all {
		environ, _ := os.ReadFile(filepath.Join(proc, "environ")) // gone: none
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if bytes.Contains(environ, []byte("HOPCHECK_STACK="+id)) || strings.HasPrefix(cwd, dir) {
			line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
			left = append(left, fmt.Sprintf("%s %q in %s", proc, line, cwd))
		}
	}
	return left
}

// kafka writes and reads a topic of three replicas while one broker is away.
func kafka(t *testing.T, s *stack.Stack) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const topic, each = "learning.progress", 50
	st := stateOf(t, s)
	seeds := strings.Split(st.Environment()[0].Value, ",")
	cl, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	topics := stack.Topic{Name: topic, Partitions: 3}
	if err := stack.CreateTopics(ctx, cl, topics); err != nil {
		t.Fatal(err)
	}
	err = stack.CreateTopics(ctx, cl, topics)
	if err == nil || !strings.Contains(err.Error(), "TOPIC_ALREADY_EXISTS") {
		t.Errorf("the topic is made a second time: %v", err)
	}
	want := make(map[string]bool)
	produce := func(when string) {
		t.Helper()
		var records []*kgo.Record
		for i := range each {
			value := fmt.Sprintf("%s %d", when, i)
			want[value] = true
			records = append(records, &kgo.Record{
				Topic: topic, Key: []byte(value), Value: []byte(value),
			})
		}
		if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
			t.Fatalf("produce %s: %v", when, err)
		}
	}
	produce("before")
	before := stateOf(t, s)
	if err := s.KillBroker(ctx, 2); err != nil {
		t.Fatal(err)
	}
	out := live(t, statusNotRun, "status", "--dir", s.Dir())
	if strings.Count(out, "does not run") != 1 {
		t.Errorf("status without a broker:\n%s", out)
	}
	produce("without broker 2")
	if err := s.StartBroker(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if err := stack.InSync(ctx, cl, topic); err != nil {
		t.Fatal(err)
	}
	if after := stateOf(t, s); after.Servers[1].Process == before.Servers[1].Process {
		t.Errorf("broker 2 is the process that it was, %v", after.Servers[1].Process)
	}
	produce("after")
	for len(want) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%d records were not read: %v", len(want), err)
		}
		fetches.EachRecord(func(r *kgo.Record) { delete(want, string(r.Value)) })
	}
}
