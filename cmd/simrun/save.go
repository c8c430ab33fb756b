package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hopcheck/hopcheck/cmd/simrun/draw"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
)

// The endings of the files of one failure.
const (
	scheduleEnding = ".schedule"
	historyEnding  = ".history.jsonl"
	pageEnding     = ".html"
)

// save writes a failure's schedule, history and page to dir, each whole or not at
// all, and returns the path of the schedule. The schedule comes last: where it is,
// the others are.
func save(dir string, s *subject) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("making the folder for results: %w", err)
	}
	f := s.failure
	name := s.World
	if s.Mutant != "" {
		name += "-" + s.Mutant
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", name, f.Schedule.Seed))
	if err := saveWhole(base+historyEnding, f.Result.History.WriteJSONL); err != nil {
		return "", err
	}
	page := pageOf(s.world, f.Result.History)
	page.Schedule = f.Schedule.String()
	if err := saveWhole(base+pageEnding, page.WriteHTML); err != nil {
		return "", err
	}
	if err := f.Schedule.Save(base + scheduleEnding); err != nil {
		return "", err
	}
	return base + scheduleEnding, nil
}

// pageOf is the drawing of a history that a world judged.
func pageOf(w sim.World, h *model.History) draw.Page {
	p := draw.Page{History: h, World: w.Name, Judged: w.Name != ""}
	if !p.Judged {
		return p
	}
	p.Broken = w.Judge(h)
	p.Says = make(map[string]string)
	for _, promise := range w.AllPromises() {
		p.Says[promise.Name] = promise.Says
	}
	return p
}

// saveWhole writes a file by way of a temporary one beside it, so that there never
// is half a file. What stood there before is replaced.
func saveWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("saving %s: %w", path, err)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	const readable = 0o644 // CreateTemp makes files that only their owner can read
	if err = f.Chmod(readable); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// replayCommand is what a user types to see a failure again.
func replayCommand(path, events string) string {
	program := os.Args[0]
	if strings.Contains(filepath.ToSlash(program), "/go-build") { // started by go run
		program = "go run -tags synctests ./cmd/simrun"
	}
	command := program + " replay " + quoted(path)
	if events != "" {
		command += " --events " + quoted(events)
	}
	return command
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	plain := strings.IndexFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+=:,@%", r) && (r < '0' || r > '9') &&
			(r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
	if plain && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
