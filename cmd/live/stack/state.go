package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The files of a stack in its folder, besides one folder for each server.
const (
	stateName = "stack.json"
	guardName = ".stack.guard" // locked while the state is changed
	workName  = ".stack.work"  // locked by an Up or a Down
	logsName  = "logs"
)

// form is the version of the state's form.
const form = 1

// State is what is known of a stack, as its stack.json says it.
type State struct {
	Form    int       `json:"form"`
	ID      string    `json:"id"`   // in the environment of its processes
	Boot    string    `json:"boot"` // of the machine; start times count from it
	Since   time.Time `json:"since"`
	Ending  bool      `json:"ending,omitempty"` // a Down is at work: nothing starts any more
	Servers []Server  `json:"servers"`
}

// Server is one server of a stack.
type Server struct {
	Name    string `json:"name"`         // "kafka-1", "postgres", "s3"
	Kind    Kind   `json:"kind"`         //
	ID      int32  `json:"id,omitempty"` // of a broker
	Version string `json:"version"`
	Address string `json:"address"` // host and port for clients
	// Controller is where a broker listens to the other controllers.
	Controller string  `json:"controller,omitempty"`
	Command    Command `json:"command"`
	// Prepared says that its folder holds what it needs to start.
	Prepared bool `json:"prepared"`
	// Process runs it; none where it was not started or was stopped.
	Process Process `json:"process"`
	// ReadyS is how long the last start took until it answered, in seconds.
	ReadyS float64 `json:"ready_s"`
}

// Kind is what a server is.
type Kind string

// The kinds of servers.
const (
	Kafka    Kind = "kafka"
	Postgres Kind = "postgres"
	S3       Kind = "s3"
)

// Command is how a server is started.
type Command struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Env     []string `json:"env,omitempty"` // beside that of the one who starts it
	Owner   *Owner   `json:"owner,omitempty"`
}

// Owner is the user that a server runs as, where it is not the one who starts it.
type Owner struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
}

// Process is a process that is known again: an id alone may be somebody else's by
// now.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since the machine's boot
}

// runs says whether the process is there.
func (p Process) runs(boot string) bool {
	if p.PID <= 0 {
		return false
	}
	now, err := bootID()
	if err != nil || now != boot {
		return false
	}
	start, ok := startTicks(p.PID)
	return ok && start == p.Start
}

// server returns the server with the name, nil where there is none.
func (s *State) server(name string) *Server {
	for i := range s.Servers {
		if s.Servers[i].Name == name {
			return &s.Servers[i]
		}
	}
	return nil
}

// running returns the names of the servers whose process is there.
func (s *State) running() []string {
	var names []string
	for _, srv := range s.Servers {
		if srv.Process.runs(s.Boot) {
			names = append(names, srv.Name)
		}
	}
	return names
}

// brokers returns the addresses of all brokers.
func (s *State) brokers() []string {
	var all []string
	for _, srv := range s.Servers {
		if srv.Kind == Kafka {
			all = append(all, srv.Address)
		}
	}
	return all
}

// errNoStack is what readState returns for a folder without one.
var errNoStack = errors.New("no stack")

func readState(dir string) (State, error) {
	var s State
	name := filepath.Join(dir, stateName)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("%w in %s: `live up` starts one", errNoStack, dir)
	}
	if err != nil {
		return s, fmt.Errorf("reading the stack's state: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("reading the stack's state %s: %w", name, err)
	}
	if s.Form != form {
		return s, fmt.Errorf("reading the stack's state %s: form %d, and this program knows %d: "+
			"use the program that wrote it", name, s.Form, form)
	}
	return s, nil
}

// write replaces the state's file in one step, so that whoever reads it, or is left
// with it after a kill, sees one state or the other.
func (s *State) write(dir string) error {
	b, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return fmt.Errorf("writing the stack's state: %w", err)
	}
	f, err := os.CreateTemp(dir, stateName+".*")
	if err != nil {
		return fmt.Errorf("writing the stack's state: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, stateName))
	}
	if err != nil {
		return fmt.Errorf("writing the stack's state: %w",
			errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// change reads the state, lets edit change it, and writes it. Changes wait for each
// other, those of other processes too.
func change(dir string, edit func(*State) error) error {
	release, err := lockFile(filepath.Join(dir, guardName), true)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s: `live up` starts one", errNoStack, dir)
	}
	if err != nil {
		return fmt.Errorf("changing the stack's state: %w", err)
	}
	defer release()
	s, err := readState(dir)
	if err != nil {
		return err
	}
	if err := edit(&s); err != nil {
		return err
	}
	return s.write(dir)
}
