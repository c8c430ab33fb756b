package mutants

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// tileEntry is an entry of one of a tile's logs. A compact one stands for all before it.
type tileEntry struct {
	batch   int64
	compact bool
	key     string
}

func entryKey(log string, batch int64) string { return log + fmt.Sprint(batch) }

// lastOf returns the last batch of a log, or -1.
func lastOf(entries []tileEntry) int64 {
	if len(entries) == 0 {
		return -1
	}
	return entries[len(entries)-1].batch
}

// entries returns the entries of a log in order.
func (l *tileLife) entries(ctx context.Context, log string) ([]tileEntry, error) {
	keys, err := listAll(ctx, l.Objects, log)
	if err != nil {
		return nil, err
	}
	var entries []tileEntry
	for _, key := range keys {
		name, compact := strings.CutSuffix(strings.TrimPrefix(key, log), ".compact")
		batch, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			continue // a temporary file
		}
		entries = append(entries, tileEntry{batch, compact, key})
	}
	slices.SortFunc(entries, func(a, b tileEntry) int { return cmp.Compare(a.batch, b.batch) })
	return entries, nil
}

// listAll lists page by page.
func listAll(ctx context.Context, store tap.Store, prefix string) ([]string, error) {
	const page = 1000
	var keys []string
	for after := ""; ; after = keys[len(keys)-1] {
		more, err := store.List(ctx, prefix, after, page)
		if err != nil || len(more) == 0 {
			return keys, err
		}
		keys = append(keys, more...)
	}
}

// state returns the entries of the sink log that count, the latest compact one and all
// after it, and the files that they name.
func (l *tileLife) state(ctx context.Context) ([]tileEntry, []hops.SinkFile, error) {
	entries, err := l.entries(ctx, tileSink)
	if err != nil {
		return nil, nil, err
	}
	for i, e := range slices.Backward(entries) {
		if e.compact {
			entries = entries[i:]
			break
		}
	}
	var files []hops.SinkFile
	for _, e := range entries {
		body, _, err := l.Objects.Get(ctx, e.key)
		if err != nil {
			return nil, nil, err
		}
		more, err := hops.ParseSinkLog(body)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, more...)
	}
	return entries, files, nil
}

// compactThenDelete removes what the compact entry stands for once it is there. What
// an earlier compaction has left behind stays: no reader looks at it.
func compactThenDelete(ctx context.Context, l *tileLife, key string) error {
	covered, files, err := l.state(ctx)
	if err != nil {
		return err
	}
	body := hops.AppendSinkLog(nil, append(files, l.files...)...)
	if err := l.job.claim(ctx, l, key, body); err != nil {
		return err
	}
	return l.remove(ctx, covered)
}

func (l *tileLife) remove(ctx context.Context, entries []tileEntry) error {
	for _, e := range entries {
		if err := l.Objects.Delete(ctx, e.key); err != nil {
			return err
		}
	}
	return nil
}
