package proc

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
)

// File is the history of one life while it goes on: Seq and Of count in this file alone,
// members and producers have their real ids. It is safe for concurrent use.
type File struct {
	proc  string
	life  int
	began time.Duration // by Now
	names worlds.Names
	fail  func(error) // does not return

	mu   sync.Mutex
	f    *os.File
	seq  int64
	over bool
}

// FileConfig says whose events a file holds; with an empty Proc, each event says it. Began
// is when the run did, by [Now]. Fail is called where an event cannot be written, and must
// not return: what has no event must not happen.
type FileConfig struct {
	Path  string
	Proc  string
	Life  int
	Began time.Duration
	Names worlds.Names
	Fail  func(error)
}

// NewFile makes the file. One that is there is an error.
func NewFile(c FileConfig) (*File, error) {
	// A line must be there when the process is killed, and its machine.
	flags := os.O_CREATE | os.O_EXCL | os.O_APPEND | os.O_WRONLY | dataSync
	f, err := os.OpenFile(c.Path, flags, 0o644)
	if err != nil {
		return nil, fmt.Errorf("making the events of %s life %d: %w", c.Proc, c.Life, err)
	}
	return &File{
		proc: c.Proc, life: c.Life, began: c.Began, names: c.Names, fail: c.Fail, f: f,
	}, nil
}

// Record writes an event and returns its Seq in this file; 0 where nothing is written any
// more.
func (r *File) Record(e model.Event) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return 0
	}
	return r.write(e)
}

// End writes the last events. Later ones are dropped.
func (r *File) End(last ...model.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	for _, e := range last {
		r.write(e)
	}
	r.over = true
}

func (r *File) write(e model.Event) int64 {
	r.seq++
	e.Seq, e.At = r.seq, Now()-r.began
	if r.proc != "" { // the supervisor's own file is about any
		e.Proc, e.Life = r.proc, r.life
	}
	r.names.PlainEvent(&e)
	line, err := e.MarshalJSON()
	if err == nil {
		_, err = r.f.Write(append(line, '\n'))
	}
	if err != nil {
		r.fail(fmt.Errorf("writing an event of %s life %d: %w", r.proc, r.life, err))
	}
	return r.seq
}
