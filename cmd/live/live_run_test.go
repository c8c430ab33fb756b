//go:build live && linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
)

// runs has worlds run with three SIGKILLs each, then one that is killed itself.
func runs(t *testing.T, s *stack.Stack) {
	t.Setenv("HOPCHECK_BROKERS", "") // the stack's, whatever else is there
	out := t.TempDir()
	// The seeds are of schedules whose points every run comes to.
	for _, test := range []struct {
		world string
		seed  string
	}{{"landing", "1"}, {"player", "1"}, {"tile", "3"}, {"validated", "9"}} {
		t.Run(test.world, func(t *testing.T) {
			l := runLive(t, s, "run", "--world", test.world, "--seed", test.seed, "--out", out)
			if l.Verdict != "held" || l.Kills != 3 || len(l.Unfired) > 0 || l.Others > 0 {
				t.Errorf("%+v: want that all held, with 3 kills", l)
			}
			wellFormed(t, l)
		})
	}
	t.Run("a lost object", func(t *testing.T) { lostObject(t, s, out) })
	t.Run("killed itself", func(t *testing.T) { killedItself(t, s, out) })
}

// runLive runs a command that judges, and returns what it printed of the run.
func runLive(t *testing.T, s *stack.Stack, args ...string) runLine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, append(args, "--dir", s.Dir(), "--json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	var l runLine
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if jsonErr := json.Unmarshal(first, &l); jsonErr != nil || l.Kind != "run" {
		t.Fatalf("live %v: %v: %q, %s", args, err, b, &stderr)
	}
	broken := cmd.ProcessState.ExitCode() == statusBroken
	if broken != (l.Verdict == "broken") || err != nil && !broken {
		t.Fatalf("live %v: %v with verdict %s: %s", args, err, l.Verdict, &stderr)
	}
	return l
}

// wellFormed wants a history that reads back, whose answers come after what they answer,
// and that shows every kill at its place.
func wellFormed(t *testing.T, l runLine) {
	t.Helper()
	f, err := os.Open(l.File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := model.Read(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	if h.Digest() != l.Digest || h.Len() != l.Events {
		t.Errorf("%d events with digest %s, want %d with %s",
			h.Len(), h.Digest(), l.Events, l.Digest)
	}
	events := h.Events()
	crashes := 0
	for i := range events {
		e := &events[i]
		if e.Kind == model.Crash {
			crashes++
		}
		if (e.Kind == model.Reply || e.Kind == model.Return) && e.Of == 0 {
			t.Errorf("event %d answers nothing", e.Seq)
		}
		if e.Of == 0 {
			continue
		}
		asked := &events[e.Of-1]
		if e.Of >= e.Seq || asked.Proc != e.Proc || asked.Life != e.Life || asked.Op != e.Op {
			t.Errorf("event %d is no answer to %d", e.Seq, e.Of)
		}
	}
	if crashes != l.Kills {
		t.Errorf("%d crashes, want %d", crashes, l.Kills)
	}
}

// lostObject has somebody remove an object of a run that was kept: the audit must see it.
func lostObject(t *testing.T, s *stack.Stack, out string) {
	l := runLive(t, s, "run", "--world", "landing", "--crashes", "0", "--events", "40",
		"--keep", "--out", out)
	if l.Verdict != "held" {
		t.Fatalf("%+v", l)
	}
	names := worlds.Names{ID: l.Run}
	store := opened(t, storeConfig(t, s, names.Objects()))
	keys, err := store.List(t.Context(), "", "", 1)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%v, %v", keys, err)
	}
	if err := store.Delete(t.Context(), keys[0]); err != nil {
		t.Fatal(err)
	}
	l = runLive(t, s, "audit", "--run", l.Run, "--out", out)
	if !slices.Contains(l.Broken, "no-loss/learning.progress") {
		t.Errorf("without %s: %+v", keys[0], l)
	}
	cleaned(t, s, l.Run, out)
}

// killedItself has `live run` killed in the middle: nothing goes on, what it left can be
// judged and removed.
func killedItself(t *testing.T, s *stack.Stack, out string) {
	before, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(context.Background(), "run", "--world", "landing", "--seed", "1",
		"--dir", s.Dir(), "--out", out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	id := ""
	eventually(t, "both members have stored something", func() bool {
		now, _ := os.ReadDir(out)
		if len(now) == len(before) {
			return false
		}
		for _, e := range now {
			known := func(b os.DirEntry) bool { return b.Name() == e.Name() }
			if !slices.ContainsFunc(before, known) {
				id = e.Name()
			}
		}
		lives := filepath.Join(out, id, "lives", "landing-*.jsonl")
		return len(putting(t, lives)) >= 2
	})
	if n := len(processesOf(t, out)); n < 1 {
		t.Fatalf("%d processes run", n)
	}
	if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, "no process of the run is left", func() bool {
		return len(processesOf(t, out)) == 0
	})
	l := runLive(t, s, "audit", "--run", id, "--out", out)
	if l.Verdict != "held" || len(l.Open) == 0 {
		t.Errorf("what it left: %+v", l)
	}
	cleaned(t, s, id, out)
}

// putting returns the files in which a put has come back.
func putting(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f string) bool {
		b, _ := os.ReadFile(f) // gone: no put
		return !bytes.Contains(b, []byte(`"kind":"return","op":"put"`))
	})
}

// processesOf returns the processes that are lives of a run below a folder.
func processesOf(t *testing.T, out string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(proc string) bool {
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // gone: none
		return !bytes.Contains(line, []byte("process\x00--run\x00"+out))
	})
}

// eventually waits for something that processes come to in their own time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	over := time.After(patience)
	for !is() {
		select {
		case <-every.C:
		case <-over:
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// cleaned has a run removed and wants nothing of it left, and all that is not of it.
func cleaned(t *testing.T, s *stack.Stack, id, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	st := stateOf(t, s)
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(st.Environment()[0].Value, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	other := "hopcheck-" + id + "0.learning.progress" // of a run whose id begins like ours
	if err := stack.CreateTopics(ctx, cl, stack.Topic{Name: other, Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	outside := opened(t, storeConfig(t, s, "hopcheck-"+id+"0/"))
	if _, err := outside.Put(ctx, "k", nil); err != nil {
		t.Fatal(err)
	}
	live(t, 0, "clean", "--run", id, "--out", out, "--dir", s.Dir())
	meta, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, topic := range meta.Topics {
		if strings.Contains(*topic.Topic, id) {
			left = append(left, *topic.Topic)
		}
	}
	if !slices.Equal(left, []string{other}) {
		t.Errorf("topics %v are left, want %v", left, other)
	}
	groups, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		if strings.Contains(g.Group, id) {
			t.Errorf("group %s is left", g.Group)
		}
	}
	keys, err := opened(t, storeConfig(t, s, "hopcheck-"+id)).List(ctx, "", "", 10)
	if err != nil || !slices.Equal(keys, []string{"0/k"}) {
		t.Errorf("objects %v are left, %v", keys, err)
	}
}
