package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Stopped is what a [Stack.Down] found and ended.
type Stopped struct {
	Names  []string // servers that it ended, in the order of the state
	Gone   []string // servers that had ended by themselves, or were killed
	Others []int    // processes of the stack whose ids were not written down
}

// Down ends the servers of the stack and nothing else, and removes what Up made in
// the folder, or with keep leaves data and logs, for Up to start again. It returns
// [ErrBusy] while an Up is at work.
func (s *Stack) Down(ctx context.Context, keep bool) (Stopped, error) {
	release, err := lockFile(filepath.Join(s.dir, workName), false)
	if err != nil {
		return Stopped{}, busy(err)
	}
	defer release()
	stopped, err := s.stop(ctx, keep)
	if err != nil || keep {
		return stopped, err
	}
	return stopped, s.remove()
}

// stop ends the servers: in order where their data are kept, and at once where not.
func (s *Stack) stop(ctx context.Context, orderly bool) (Stopped, error) {
	var st State
	err := change(s.dir, func(now *State) error {
		now.Ending = true
		st = *now
		return nil
	})
	if err != nil {
		return Stopped{}, err
	}
	stopped, err := s.endAll(ctx, &st, orderly)
	// What an Up started that was killed before it wrote down the id, or what
	// prepared a server then.
	others, markErr := marked(mark + "=" + st.ID)
	for _, pid := range others {
		start, ok := startTicks(pid)
		if !ok {
			continue
		}
		stopped.Others = append(stopped.Others, pid)
		err = errors.Join(err, end(ctx, Process{pid, start}, st.Boot, syscall.SIGKILL))
	}
	err = errors.Join(err, markErr, emptied(ctx, s.tables()))
	if err != nil {
		return stopped, err
	}
	return stopped, change(s.dir, func(now *State) error {
		for i := range now.Servers {
			now.Servers[i].Process = Process{}
		}
		return nil
	})
}

// endAll ends the servers, all at the same time: brokers that stop one after the
// other wait for a leader that the last ones cannot have.
func (s *Stack) endAll(ctx context.Context, st *State, orderly bool) (Stopped, error) {
	var stopped Stopped
	type ending struct {
		name string
		err  chan error
	}
	var endings []ending
	for _, srv := range st.Servers {
		if !srv.Process.runs(st.Boot) {
			stopped.Gone = append(stopped.Gone, srv.Name)
			continue
		}
		e := ending{srv.Name, make(chan error, 1)}
		endings = append(endings, e)
		go func() { e.err <- end(ctx, srv.Process, st.Boot, farewell(srv.Kind, orderly)) }()
	}
	var err error
	for _, e := range endings {
		if endErr := <-e.err; endErr != nil {
			err = errors.Join(err, fmt.Errorf("stopping %s: %w", e.name, endErr))
			continue
		}
		stopped.Names = append(stopped.Names, e.name)
	}
	return stopped, err
}

// farewell is the signal that ends a server. PostgreSQL's first process ends the
// others on both of its own, which after SIGKILL end by themselves some time later.
func farewell(kind Kind, orderly bool) syscall.Signal {
	switch {
	case kind == Postgres && orderly:
		return syscall.SIGINT // "fast"
	case kind == Postgres:
		return syscall.SIGQUIT // "immediate"
	case orderly:
		return syscall.SIGTERM
	}
	return syscall.SIGKILL
}

// remove removes what Up made, the state last, so that a Down that is killed can be
// done again.
func (s *Stack) remove() error {
	st, err := readState(s.dir)
	if err != nil {
		return err
	}
	names := []string{logsName}
	for _, srv := range st.Servers {
		names = append(names, srv.Name)
	}
	half, globErr := filepath.Glob(filepath.Join(s.dir, stateName+".*")) // of a killed write
	err = globErr
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(s.folder(name)))
	}
	for _, name := range slices.Concat(half, []string{s.folder(stateName)}) {
		if err == nil {
			err = absentOK(os.Remove(name))
		}
	}
	if err != nil {
		return fmt.Errorf("removing the stack's data: %w", err)
	}
	return s.removeFolder()
}
