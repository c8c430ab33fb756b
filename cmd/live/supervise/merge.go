package supervise

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// merged is an event and the file it is from.
type merged struct {
	file int
	e    model.Event
}

// Merge returns what the lives of a run wrote as one history, in the order of their
// common clock: see package proc. An event of one life never comes before an earlier one
// of that life, so no answer before its request. A last line that a kill cut short is
// left out: what it is of has not happened.
func (f Folder) Merge(names *tap.Names) (*model.History, error) {
	files, err := filepath.Glob(f.in(livesName, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("looking for the events of a run: %w", err)
	}
	slices.Sort(files)
	var all []merged
	for i, file := range files {
		events, err := readEvents(file)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			all = append(all, merged{i, e})
		}
	}
	slices.SortStableFunc(all, func(a, b merged) int { return cmp.Compare(a.e.At, b.e.At) })
	type place struct {
		file int
		seq  int64
	}
	seqs := make(map[place]int64, len(all))
	h := new(model.History)
	for _, m := range all {
		own := m.e.Seq
		if m.e.Of != 0 {
			m.e.Of = seqs[place{m.file, m.e.Of}]
		}
		names.Rename(&m.e)
		seqs[place{m.file, own}] = h.Append(m.e).Seq
	}
	return h, nil
}

func readEvents(file string) ([]model.Event, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the events of a life: %w", err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	var events []model.Event
	for i, line := range lines {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the last: cut short, or nothing
		}
		var e model.Event
		err := e.UnmarshalJSON(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		case e.Seq != int64(i)+1:
			return nil, fmt.Errorf("%s:%d: seq %d: events are missing", file, i+1, e.Seq)
		case i > 0 && e.At < events[i-1].At:
			return nil, fmt.Errorf("%s:%d: the clock went back", file, i+1)
		}
		events = append(events, e)
	}
	return events, nil
}
