package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mark is the variable in the environment of a stack's processes; its value is the
// stack's id.
const mark = "HOPCHECK_STACK"

// The patience of this package.
const (
	pollEvery = 25 * time.Millisecond
	askAgain  = 100 * time.Millisecond // between two questions to a server that starts
	readyIn   = 2 * time.Minute        // for a server on a busy machine
	stopIn    = 15 * time.Second       // before a server that was asked to end is killed
	goneIn    = 10 * time.Second       // after SIGKILL
)

// launch starts the server's process and writes down which it is.
func (s *Stack) launch(name string) error {
	var began Process
	err := change(s.dir, func(st *State) error {
		srv := st.server(name)
		switch {
		case srv == nil:
			return fmt.Errorf("starting %s: the stack has no such server", name)
		case st.Ending:
			return fmt.Errorf("starting %s: the stack is going down", name)
		case srv.Process.runs(st.Boot):
			return fmt.Errorf("starting %s: it runs already, as process %d", name, srv.Process.PID)
		}
		if srv.Kind == Postgres {
			if err := s.unlockTables(); err != nil {
				return err
			}
		}
		// The state as it is names everything that Down needs to find this process, by
		// its mark, should we be killed before the id is written.
		cmd := s.command(st, srv)
		log, err := os.OpenFile(s.log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
		began.PID = cmd.Process.Pid
		began.Start, _ = startTicks(began.PID) // not there any more: it runs no more
		go func() { _ = cmd.Wait() }()         // its end is seen in /proc; this lets it go
		srv.Process = began
		return nil
	})
	if err != nil && began.PID > 0 {
		err = errors.Join(err, send(began.PID, syscall.SIGKILL))
	}
	return err
}

// command is the server's command, with its folder as working directory.
func (s *Stack) command(st *State, srv *Server) *exec.Cmd {
	cmd := exec.Command(srv.Command.Program, srv.Command.Args...)
	cmd.Dir = s.folder(srv.Name)
	cmd.Env = append(environment(st.ID), srv.Command.Env...)
	cmd.SysProcAttr = detached(srv.Command.Owner)
	return cmd
}

// environment is what a server gets of ours: no credentials, and nothing like PGDATA
// that would change what it does.
func environment(id string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, mark+"="+id)
}

// tool runs a program that prepares a server, as the server's owner. Its output
// goes into the server's log, and its end into the error.
func (s *Stack) tool(ctx context.Context, srv *Server, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.folder(srv.Name)
	cmd.Env = environment(s.id)
	cmd.SysProcAttr = detached(srv.Command.Owner)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err() // not that the signal killed it
	}
	return errors.Join(os.WriteFile(s.log(srv.Name), out, 0o644), said(err, out))
}

// said adds what a program said last to the error with which it ended.
func said(err error, out []byte) error {
	if err == nil {
		return nil
	}
	if last := lastLines(out); last != "" {
		return fmt.Errorf("%w:\n%s", err, last)
	}
	return err
}

// await asks until the server answers. It ends early when the server's process does.
func (s *Stack) await(ctx context.Context, name string, ask func(context.Context) error) error {
	limit, cancel := context.WithTimeout(ctx, readyIn)
	defer cancel()
	for {
		err := ask(limit)
		if err == nil {
			return nil
		}
		st, stateErr := readState(s.dir)
		if stateErr != nil {
			return stateErr
		}
		if srv := st.server(name); srv == nil || !srv.Process.runs(st.Boot) {
			return fmt.Errorf("%s has ended%s", name, s.lastWords(name))
		}
		if !pause(limit, askAgain) {
			if ctx.Err() != nil {
				return fmt.Errorf("waiting for %s: %w", name, ctx.Err()) // it had no time
			}
			return fmt.Errorf("%s does not answer: %w%s", name, err, s.lastWords(name))
		}
	}
}

// pause waits, and returns false where the context ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// end makes a process end: by the signal, and by SIGKILL if it takes longer than
// stopIn.
func end(ctx context.Context, p Process, boot string, signal syscall.Signal) error {
	for _, step := range []struct {
		signal  syscall.Signal
		patient time.Duration
	}{{signal, stopIn}, {syscall.SIGKILL, goneIn}} {
		if !p.runs(boot) {
			return nil
		}
		if err := send(p.PID, step.signal); err != nil {
			return err
		}
		limit, cancel := context.WithTimeout(ctx, step.patient)
		for p.runs(boot) && pause(limit, pollEvery) {
			continue
		}
		cancel()
	}
	if p.runs(boot) {
		return fmt.Errorf("process %d is there after SIGKILL", p.PID)
	}
	return nil
}

// emptied waits until no process works in the folder: what PostgreSQL's first
// process started ends by itself after it, and uses the folder until then.
func emptied(ctx context.Context, dir string) error {
	limit, cancel := context.WithTimeout(ctx, goneIn)
	defer cancel()
	for {
		pids, err := within(dir)
		if err != nil || len(pids) == 0 {
			return err
		}
		if !pause(limit, pollEvery) {
			return fmt.Errorf("processes %v still work in %s", pids, dir)
		}
	}
}

// lastWords quotes the end of a server's log.
func (s *Stack) lastWords(name string) string {
	const room = 4096
	f, err := os.Open(s.log(name))
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > room {
		if _, err := f.Seek(-room, io.SeekEnd); err != nil {
			return ""
		}
	}
	b, err := io.ReadAll(f)
	last := lastLines(b)
	if err != nil || last == "" {
		return fmt.Sprintf("; its log %s is empty", f.Name())
	}
	return fmt.Sprintf("; the end of its log %s:\n%s", f.Name(), last)
}

// lastLines returns the last lines of a text, indented.
func lastLines(text []byte) string {
	const most = 8
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	lines = lines[max(0, len(lines)-most):]
	return "    " + strings.Join(lines, "\n    ")
}

func (s *Stack) folder(name string) string { return filepath.Join(s.dir, name) }

func (s *Stack) log(name string) string {
	return filepath.Join(s.dir, logsName, name+".log")
}
