package schedule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Load reads the schedule in a file. Errors of the text are a [*ParseError] with
// the file's name in it.
func Load(path string) (Schedule, error) {
	f, err := os.Open(path)
	if err != nil {
		return Schedule{}, fmt.Errorf("reading a schedule: %w", err)
	}
	defer f.Close()
	s, err := Parse(f)
	return s, inFile(path, err)
}

// Save writes the schedule to a file, whole or not at all: to a temporary file
// beside it, which is then given the name. What stood there before is replaced. A
// schedule that would not read back is an error and touches nothing.
func (s Schedule) Save(path string) error {
	text := s.String()
	_, err := Parse(strings.NewReader(text))
	if err == nil {
		err = save(path, text)
	}
	if err != nil {
		return fmt.Errorf("saving schedule %s: %w", path, err)
	}
	return nil
}

func save(path, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.WriteString(text); err != nil {
		return err
	}
	const readable = 0o644 // CreateTemp makes files that only their owner can read
	if err = f.Chmod(readable); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
