package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/target"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// The files of a run in its folder.
const (
	manifestName = "run.json"
	scheduleName = "schedule"
	historyName  = "history.jsonl"
	livesName    = "lives" // one file of events and one log for each life
	lockName     = ".lock"
)

// Manifest is what is known of a run from its beginning. It holds no secrets.
type Manifest struct {
	ID     string        `json:"id"`
	World  string        `json:"world"`
	Target target.Target `json:"target"`
	// Began is when the run did, by proc.Now, and Since by the calendar.
	Began time.Duration `json:"began_ns"`
	Since time.Time     `json:"since"`
	// Ended says that the run came to its end, and was not interrupted.
	Ended bool `json:"ended"`
}

// Folder is the folder of one run.
type Folder string

// Find returns the folder of a run below dir. The error says where it was looked for.
func Find(dir, id string) (Folder, Manifest, error) {
	if err := worlds.CheckID(id); err != nil {
		return "", Manifest{}, err
	}
	f := Folder(filepath.Join(dir, id))
	m, err := f.Manifest()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no run %s in %s", id, dir)
	}
	if err == nil && m.ID != id {
		err = fmt.Errorf("%s is of run %s, not %s", f, m.ID, id)
	}
	return f, m, err
}

// Manifest reads the run's manifest.
func (f Folder) Manifest() (Manifest, error) {
	var m Manifest
	b, err := os.ReadFile(f.in(manifestName))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return m, fmt.Errorf("reading the manifest of a run: %w", err)
	}
	return m, nil
}

// Schedule reads the run's schedule.
func (f Folder) Schedule() (schedule.Schedule, error) { return schedule.Load(f.in(scheduleName)) }

// History is the file of the run's history.
func (f Folder) History() string { return f.in(historyName) }

// Events is the file of the events of a life, Log that of its output.
func (f Folder) Events(replica string, life int) string {
	return f.in(livesName, lifeName(replica, life)+".jsonl")
}

func (f Folder) log(replica string, life int) string {
	return f.in(livesName, lifeName(replica, life)+".log")
}

func lifeName(replica string, life int) string {
	return fmt.Sprintf("%s-life-%d", filepath.ToSlash(flat(replica)), life)
}

func flat(replica string) string {
	b := []byte(replica)
	for i := range b {
		if b[i] == '/' {
			b[i] = '-'
		}
	}
	return string(b)
}

func (f Folder) in(names ...string) string {
	return filepath.Join(append([]string{string(f)}, names...)...)
}

func (f Folder) write(m Manifest) error {
	b, err := json.MarshalIndent(m, "", "\t")
	if err == nil {
		err = os.WriteFile(f.in(manifestName)+".new", append(b, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(f.in(manifestName)+".new", f.in(manifestName))
	}
	if err != nil {
		return fmt.Errorf("writing the manifest of a run: %w", err)
	}
	return nil
}

// make makes the folder. One that is there is an error.
func (f Folder) make(m Manifest, s schedule.Schedule) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o755); err != nil {
		return fmt.Errorf("making the folder of a run: %w", err)
	}
	if err := os.Mkdir(string(f), 0o755); err != nil {
		return fmt.Errorf("making the folder of a run: %w", err)
	}
	if err := os.Mkdir(f.in(livesName), 0o755); err != nil {
		return fmt.Errorf("making the folder of a run: %w", err)
	}
	if err := s.Save(f.in(scheduleName)); err != nil {
		return err
	}
	return f.write(m)
}

// ErrGoesOn is what [Folder.Lock] returns while the run goes on.
var ErrGoesOn = errors.New("the run goes on")
