package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/sim"
)

// task is a job on its way through the fleet. Its functions are called one at a
// time over the whole fleet.
type task struct {
	job
	ctx      context.Context      // ends the worker
	progress func(tally)          // may be nil
	done     func(message, error) // always called once
}

// fleet runs tasks in worker processes, so many at a time.
type fleet struct {
	workers int
	program string // the path of this program
}

func newFleet(workers int) (*fleet, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, notRun("finding the program to start as worker: %w", err)
	}
	return &fleet{workers: workers, program: program}, nil
}

// run takes tasks from next until it returns nil, and returns when all are done.
func (f *fleet) run(next func() *task) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range f.workers {
		all.Go(func() {
			for {
				mu.Lock()
				t := next()
				mu.Unlock()
				if t == nil {
					return
				}
				m, err := f.do(t.ctx, t.job, func(now tally) {
					mu.Lock()
					defer mu.Unlock()
					if t.progress != nil {
						t.progress(now)
					}
				})
				mu.Lock()
				t.done(m, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// errWorker is a worker that ended without a result.
var errWorker = errors.New("a worker died")

// do runs one job in a process of its own.
func (f *fleet) do(ctx context.Context, j job, progress func(tally)) (message, error) {
	if err := ctx.Err(); err != nil {
		return message{}, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return message{}, fmt.Errorf("writing the job: %w", err)
	}
	cmd := exec.Command(f.program, workerCommand)
	cmd.Stdin = bytes.NewReader(text)
	var stderr ends
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return message{}, fmt.Errorf("starting a worker: %w", err)
	}
	if _, err := sim.StartFresh(cmd); err != nil {
		return message{}, stoppedOr(ctx, fmt.Errorf("starting a worker: %w", err))
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	last, err := listen(out, progress)
	waited := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return message{}, ctx.Err()
	case err != nil || last == nil:
		return message{}, stoppedOr(ctx,
			fmt.Errorf("%w (%s): %s\n%s", errWorker, j, ending(waited, err), &stderr))
	case last.Err != "":
		return message{}, errors.New(last.Err)
	}
	return *last, nil
}

// stoppedOr returns the context's error if it ends in a moment, else err. A Ctrl-C
// kills a worker that is only just starting, and this program may learn of it later.
func stoppedOr(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return err
	}
}

func ending(waited, read error) string {
	if waited != nil {
		return waited.Error()
	}
	return fmt.Sprintf("its output made no sense: %v", read)
}

// listen reads a worker's lines up to its last, which is nil where it ended early.
func listen(out io.Reader, progress func(tally)) (*message, error) {
	var last *message
	lines := json.NewDecoder(out)
	for {
		var m message
		err := lines.Decode(&m)
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			_, _ = io.Copy(io.Discard, out) // so that the worker can end
			return nil, err
		}
		if m.Progress != nil {
			progress(*m.Progress)
			continue
		}
		last = &m
	}
}

// ends keeps the beginning and the end of what is written to it: a panic says the
// most first, a program that complains and dies says it last.
type ends struct{ head, tail []byte }

const keptBytes = 8 << 10 // at either end

func (e *ends) Write(b []byte) (int, error) {
	n := len(b)
	room := min(keptBytes-len(e.head), n)
	e.head = append(e.head, b[:room]...)
	e.tail = append(e.tail, b[room:]...)
	if over := len(e.tail) - keptBytes; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
	return n, nil
}

// String returns a screenful of lines, indented.
func (e *ends) String() string {
	const first, last = 14, 8
	lines := strings.Split(strings.TrimSpace(string(e.head)+string(e.tail)), "\n")
	if len(lines) > first+last {
		lines = append(append(lines[:first:first], "..."), lines[len(lines)-last:]...)
	}
	return "    " + strings.Join(lines, "\n    ")
}
