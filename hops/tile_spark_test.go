package hops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// What Spark itself has written: see docs/decisions/0010-spark-formats.md.
const (
	sparkTile  = "testdata/spark/tile"  // 12 batches of a file sink
	sparkKafka = "testdata/spark/kafka" // the checkpoint of a Kafka source, 3 batches
	sparkRoot  = "file:///srv/lake/tiles/progress"
)

// sparkFile returns one file of Spark's.
func sparkFile(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sparkNames lists the files of Spark's that match, at least one.
func sparkNames(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash(pattern))
	if err != nil || len(names) == 0 {
		t.Fatal(pattern, names, err)
	}
	return names
}

// The sink log that Spark wrote is read, and written again is the same bytes.
func TestSparksSinkLog(t *testing.T) {
	for _, name := range sparkNames(t, sparkTile+"/"+SinkLogDir+"/*") {
		body := sparkFile(t, name)
		files, err := ParseSinkLog(body)
		if err != nil || len(files) == 0 {
			t.Fatal(name, files, err)
		}
		if diff := cmp.Diff(string(body), string(AppendSinkLog(nil, files...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, file := range files {
			if file.BlockSize != sparkBlockSize || !strings.HasPrefix(file.Path, sparkRoot+"/") {
				t.Errorf("%s: %+v", name, file)
			}
		}
	}
}

// Spark's names of its log's files are ours, and its compact file holds what the
// files before it do.
func TestSparksCompaction(t *testing.T) {
	var names []string
	for batch := range int64(12) {
		names = append(names, SinkLogName(batch, CompactEvery))
	}
	var has []string
	for _, name := range sparkNames(t, sparkTile+"/"+SinkLogDir+"/*") {
		has = append(has, filepath.Base(name))
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, has); diff != "" {
		t.Error(diff)
	}
	found := readSinkListing(has)
	state, covered := strings.Join(found.state, " "), strings.Join(found.covered, " ")
	if state != "9.compact 10 11" || covered != "0 1 2 3 4 5 6 7 8" ||
		found.last != 11 || found.missing >= 0 {
		t.Errorf("%+v", found)
	}
	compact := sparkFile(t, sparkTile+"/"+SinkLogDir+"/9.compact")
	for batch := range 9 {
		one := sparkFile(t, fmt.Sprintf("%s/%s/%d", sparkTile, SinkLogDir, batch))
		lines, err := logLines(one)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !bytes.Contains(compact, line) {
				t.Errorf("batch %d has %s, and the compact file has not", batch, line)
			}
		}
	}
}

// Through the sink log, the reader finds Spark's parts where they are, and in
// them the rows that were given to Spark.
func TestSparksTile(t *testing.T) {
	store := sparkStore{}
	files, _, err := readSinkLog(t.Context(), store, "tiles/progress")
	if err != nil || len(files) != 12 {
		t.Fatal(files, err)
	}
	for batch, file := range files {
		body, ok, err := getObject(t.Context(), store, strings.TrimPrefix(file.Path,
			"file:///srv/lake/"))
		if err != nil || !ok || int64(len(body)) != file.Size {
			t.Fatal(file, ok, err)
		}
		// Spark's columns may be null, so they are no tile's to DecodeTileRows.
		rows, err := parquet.Read[TileRow](bytes.NewReader(body), file.Size)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sparkRows(batch), append([]TileRow{}, rows...)); diff != "" {
			t.Errorf("batch %d: %s", batch, diff)
		}
	}
}

// sparkRows are the rows that spark.py gives to Spark in a batch.
func sparkRows(batch int) []TileRow {
	const eight = 1_772_352_000_000 // 2026-03-01T08:00:00Z
	rows := []TileRow{}
	for course, name := range []string{"go-101", "größe", "日本語", ""}[:batch%5] {
		rows = append(rows, TileRow{
			WindowStart: int64(-600_000 + 300_000*(course%2)),
			WindowEnd:   eight + int64(batch)*60_000, CourseID: name,
			Events: 1<<40 + int64(batch), DistinctEventIDs: int64(batch),
		})
	}
	return rows
}

// sparkStore is the folder that Spark wrote, as the store that the sink log speaks of.
type sparkStore struct{}

func (sparkStore) List(
	_ context.Context, prefix, after string, limit int,
) (keys []string, err error) {
	dir := strings.Replace(strings.TrimSuffix(prefix, "/"), "tiles/progress", sparkTile, 1)
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	for _, entry := range entries {
		if key := prefix + entry.Name(); key > after && len(keys) < limit {
			keys = append(keys, key)
		}
	}
	return keys, err
}

func (sparkStore) Get(_ context.Context, key string) ([]byte, string, error) {
	name := strings.Replace(key, "tiles/progress", sparkTile, 1)
	body, err := os.ReadFile(filepath.FromSlash(name))
	return body, "", err
}

func (sparkStore) PutIf(context.Context, string, []byte, string) (bool, string, error) {
	return false, "", errors.New("what Spark wrote stays as it is")
}

// The checkpoint's small files are Spark's to the byte.
func TestSparksCommitsAndMetadata(t *testing.T) {
	for _, dir := range []string{sparkTile + "/checkpoint", sparkKafka} {
		for _, name := range sparkNames(t, dir+"/commits/*") {
			body := sparkFile(t, name)
			if diff := cmp.Diff(string(body), string(appendCommit(nil))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if err := parseCommit(body); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		body := sparkFile(t, dir+"/metadata")
		id, err := parseCheckpointID(body)
		if err != nil || string(appendCheckpointID(nil, id)) != string(body) {
			t.Errorf("%s/metadata: %s, %v", dir, id, err)
		}
	}
}

// An offsets entry of ours is laid out as Spark's of a Kafka source: the same
// lines, the same fields at the head of the metadata, the same end offsets.
func TestSparksOffsets(t *testing.T) {
	names := sparkNames(t, sparkKafka+"/offsets/*")
	for _, name := range names {
		body := sparkFile(t, name)
		lines, err := logLines(body)
		if err != nil || len(lines) != 2 {
			t.Fatal(name, lines, err)
		}
		var meta planMeta
		if err := oneJSON(lines[0], &meta); err != nil || meta.BatchTimestampMs == 0 {
			t.Errorf("%s: %+v, %v", name, meta, err)
		}
		source, ends, err := parseOffsets(lines[1])
		if err != nil || source != "learning.progress" || len(ends) != 12 {
			t.Fatal(name, source, ends, err)
		}
		plan := BatchPlan{Topic: source, TimestampMs: meta.BatchTimestampMs}
		for partition := range int32(12) {
			plan.Ranges = append(plan.Ranges, OffsetRange{partition, 0, ends[partition]})
		}
		ours := AppendBatchPlan(nil, plan)
		conf := []byte(`"conf":{`)
		before, _, _ := bytes.Cut(body, conf)
		if !bytes.HasPrefix(ours, append(before, conf...)) ||
			!bytes.HasSuffix(ours, append([]byte("}}\n"), lines[1]...)) {
			t.Errorf("Spark: %s\nours: %s", body, ours)
		}
	}
	// A batch cannot be run again from it: it does not say where it begins.
	_, err := ParseBatchPlan(sparkFile(t, names[0]))
	if err == nil || !strings.Contains(err.Error(), "start offsets") {
		t.Error(err)
	}
	_, err = ParseBatchPlan(sparkFile(t, sparkTile+"/checkpoint/offsets/0"))
	if err == nil || !strings.Contains(err.Error(), "end offsets") {
		t.Error("of a file source:", err)
	}
}
