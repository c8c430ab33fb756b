//go:build synctests

package hops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// sparkSaid is what testdata/spark/spark.py prints of a tile.
type sparkSaid struct {
	version          string
	columns          [][2]string
	rows             []TileRow
	batch, committed int64
	ends             string
}

// readWithSpark has Spark read a folder. It needs a Python that has pyspark, and
// Java 17, so CI does not run it.
func readWithSpark(t *testing.T, folder string) (said sparkSaid) {
	t.Helper()
	python := os.Getenv("HOPCHECK_PYSPARK")
	if python == "" {
		t.Skip("needs Java 17 and HOPCHECK_PYSPARK, the path of a Python with pyspark")
	}
	program := filepath.Join("testdata", "spark", "spark.py")
	spark := exec.CommandContext(t.Context(), python, program, "read", folder)
	var complaint bytes.Buffer
	spark.Stderr = &complaint
	out, err := spark.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var line struct {
			Spark            string
			Columns          [][2]string
			Row              []json.RawMessage
			Batch, Committed int64
			Ends             string
		}
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		switch {
		case line.Spark != "":
			said.version, said.columns = line.Spark, line.Columns
		case line.Row != nil:
			var row TileRow
			for i, into := range []any{&row.WindowStart, &row.WindowEnd, &row.CourseID,
				&row.Events, &row.DistinctEventIDs} {
				if err := json.Unmarshal(line.Row[i], into); err != nil {
					t.Fatalf("%v: %s", err, line.Row)
				}
			}
			said.rows = append(said.rows, row)
		default:
			said.batch, said.committed, said.ends = line.Batch, line.Committed, line.Ends
		}
	}
	return said
}

// fillOdd appends events whose course or time a reader may get wrong.
func fillOdd(t *testing.T, log *memoryLog) {
	t.Helper()
	for _, odd := range []struct{ course, at string }{
		{"größe", "2026-03-01T08:00:00Z"}, {"日本語", "1969-12-31T23:59:59.999Z"},
		{"🎓", "1900-01-01T00:00:00Z"}, {"a\"b\\c\nd", "2500-01-01T00:00:00Z"},
	} {
		e := event("odd-" + odd.course)
		e.CourseID = odd.course
		e.OccurredAt, _ = time.Parse(time.RFC3339, odd.at)
		log.records[0] = append(log.records[0], &kgo.Record{
			Offset: int64(len(log.records[0])), Key: e.Key(), Value: mustValue(t, e),
		})
	}
}

// writeTile makes a tile of 16 batches in a folder of the disk, with the garbage of
// a run that was killed.
func writeTile(t *testing.T, folder string) (want []TileRow) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(2)
		log.fill(t, 12)
		fillOdd(t, log)
		ctx, kill := context.WithCancel(t.Context())
		store.before = func(op, key string) error {
			if strings.HasSuffix(key, SinkLogDir+"/5") {
				kill()
				return errFault
			}
			return nil
		}
		for _, ctx := range []context.Context{ctx, t.Context()} {
			tile := tileOf(t, store, log, 2)
			tile.cfg.BaseURI = "file://" + folder
			if err := runTile(ctx, tile); err != nil {
				t.Fatal(err)
			}
			store.before = nil
		}
		names, parts := shapeOf(store)
		files, _, err := readSinkLog(t.Context(), store, tilePrefix)
		if err != nil || len(files) >= parts || names[0] != "10" {
			t.Fatalf("%v, %d of %d parts are in the sink log: %v", names, len(files), parts, err)
		}
		if want, err = ReadTile(t.Context(), store, tilePrefix); err != nil {
			t.Fatal(err)
		}
		for key, body := range store.objects {
			name := filepath.Join(folder, filepath.FromSlash(key))
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	return want
}

// Spark reads the rows that we do, by the sink log: neither the orphans of a killed
// run nor the batches that a compact file has replaced put it off.
func TestSparkReadsTile(t *testing.T) {
	folder := t.TempDir()
	want := writeTile(t, folder)
	got := readWithSpark(t, filepath.Join(folder, filepath.FromSlash(tilePrefix)))
	t.Logf("Spark %s: %d rows", got.version, len(got.rows))
	for _, rows := range [][]TileRow{want, got.rows} {
		slices.SortFunc(rows, func(a, b TileRow) int {
			return cmp.Or(compareThen(a.WindowStart, b.WindowStart, a.CourseID, b.CourseID),
				compareThen(a.Events, b.Events, a.DistinctEventIDs, b.DistinctEventIDs))
		})
	}
	if diff := gocmp.Diff(want, got.rows); diff != "" {
		t.Error(diff)
	}
	columns := "[[window_start timestamp] [window_end timestamp] [course_id string] " +
		"[events bigint] [distinct_event_ids bigint]]"
	if fmt.Sprint(got.columns) != columns {
		t.Error(got.columns)
	}
	ends := `{"learning.progress":{"0":16,"1":12}}`
	if got.batch != 15 || got.committed != 15 || got.ends != ends {
		t.Errorf("the checkpoint, as Spark reads it: batch %d of %s, committed %d",
			got.batch, got.ends, got.committed)
	}
}
