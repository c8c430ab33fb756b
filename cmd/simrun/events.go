package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim/worlds"
)

// Limits on a file of events. A line becomes a record, and with its headers a dead
// letter, which brokers take up to about 1,000,000 bytes by default.
const (
	maxEventLine = 900_000 // bytes of a line, without its end
	maxEvents    = 100_000
	maxEventFile = 64 << 20 // bytes
	manyEvents   = 2000     // more make runs slow
)

// loadEvents reads the values of records from a file, one a line; none for no file.
func loadEvents(path string, warn io.Writer) ([][]byte, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, wrongUse("reading events: %w", err)
	}
	defer f.Close()
	values, err := readEvents(f)
	if err != nil {
		return nil, wrongUse("events %s: %w", path, err)
	}
	if len(values) > manyEvents {
		fmt.Fprintf(warn, "simrun: %s has %s: every schedule runs them all, "+
			"so each takes long\n", path, plural(len(values), "event"))
	}
	return values, nil
}

// errCutOff is the end of a file that was not written to its end.
var errCutOff = errors.New("the last line is cut off: it has no newline and is no JSON")

// readEvents reads lines whatever they hold, but refuses a file that is no text or
// not whole. The last line may lack its newline if it is JSON.
func readEvents(r io.Reader) ([][]byte, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var values [][]byte
	total := 0
	for {
		number := len(values) + 1
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		ended := err != nil
		switch column := bytes.IndexByte(line, 0); {
		case ended && len(line) == 0 && number == 1:
			return nil, errors.New("the file is empty")
		case ended && len(line) == 0:
			return values, nil
		case column >= 0:
			return nil, fmt.Errorf("line %d, column %d: a NUL byte: this is no text file",
				number, column+1)
		case ended && !json.Valid(line):
			return nil, fmt.Errorf("line %d: %w", number, errCutOff)
		}
		if total += len(line); total > maxEventFile || number > maxEvents {
			return nil, fmt.Errorf("line %d: too much: at most %d lines and %d bytes",
				number, maxEvents, maxEventFile)
		}
		values = append(values, line)
		if ended {
			return values, nil
		}
	}
}

// readLine returns a line without its newline; with io.EOF what stands after the
// last one.
func readLine(in *bufio.Reader) ([]byte, error) {
	line := []byte{}
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if n := len(bytes.TrimSuffix(line, []byte("\n"))); n > maxEventLine {
			return nil, fmt.Errorf("longer than %d bytes", maxEventLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}

// generate returns the lines that the events command writes.
func generate(seed uint64, lines int) [][]byte {
	return worlds.Generate(rand.New(rand.NewPCG(seed, 0x65_76_74)), lines)
}

func (p *program) eventsCommand() *cobra.Command {
	var lines int
	var seed uint64
	c := &cobra.Command{
		Use:   "events [--lines N] [--seed S]",
		Short: "Write sample events for --events, as a player's day brings them",
		Long: "Events writes JSON Lines for --events: progress events with resends,\n" +
			"values that the contract rejects, text beyond ASCII, and times out of\n" +
			"order. A seed gives the same lines.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if lines < 1 || lines > maxEvents {
				return wrongUse("--lines %d: want 1 to %d", lines, maxEvents)
			}
			out := bufio.NewWriter(p.out)
			for _, value := range generate(seed, lines) {
				out.Write(value)
				out.WriteByte('\n')
			}
			if err := out.Flush(); err != nil {
				return notRun("writing events: %w", err)
			}
			return nil
		},
	}
	c.Flags().IntVar(&lines, "lines", 500, "how many lines")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed")
	return c
}
