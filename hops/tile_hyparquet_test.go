package hops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hyparquetFolder returns a folder in which `npm ci` has installed what
// testdata/hyparquet pins. CI names one, and then nothing may be missing.
func hyparquetFolder(t *testing.T) string {
	t.Helper()
	folder, wanted := os.LookupEnv("HOPCHECK_HYPARQUET")
	if !wanted {
		folder = filepath.Join("testdata", "hyparquet")
	}
	_, err := os.Stat(filepath.Join(folder, "node_modules", "hyparquet"))
	if err == nil {
		_, err = exec.LookPath("node")
	}
	switch {
	case err == nil:
		return folder
	case wanted:
		t.Fatalf("HOPCHECK_HYPARQUET=%s: %v", folder, err)
	}
	t.Skipf("needs Node.js 20 and, in hops/testdata/hyparquet, `npm ci`: %v", err)
	return ""
}

// readWithHyparquet has another implementation of Parquet read the files.
func readWithHyparquet(t *testing.T, files ...string) (rows [][]TileRow) {
	t.Helper()
	folder := hyparquetFolder(t)
	program, err := os.Open(filepath.Join("testdata", "hyparquet", "read.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	// From standard input, a module finds its packages in the working folder.
	args := append([]string{"--input-type=module", "-"}, files...)
	node := exec.CommandContext(t.Context(), "node", args...)
	node.Dir, node.Stdin = folder, program
	var said bytes.Buffer
	node.Stderr = &said
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var file struct {
			RowGroups int
			Rows      [][5]string
		}
		if err := decoder.Decode(&file); err != nil {
			t.Fatal(err)
		}
		if file.RowGroups > 1 {
			t.Errorf("%d row groups, of at most 1", file.RowGroups)
		}
		read := make([]TileRow, len(file.Rows))
		for i, cells := range file.Rows {
			var numbers [5]int64
			for column, text := range cells {
				if column == 2 {
					continue
				}
				if numbers[column], err = strconv.ParseInt(text, 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			read[i] = TileRow{numbers[0], numbers[1], cells[2], numbers[3], numbers[4]}
		}
		rows = append(rows, read)
	}
	return rows
}

// manyRows returns n rows with a few courses, or with one of its own each.
func manyRows(n, courses int) []TileRow {
	rows := make([]TileRow, n)
	for i := range rows {
		start := int64(i/courses-n/courses/2) * 300_000 // half of them before 1970
		rows[i] = TileRow{
			start, start + 300_000, fmt.Sprintf("курс-%d", i%courses), int64(i) * 7919, int64(i),
		}
	}
	return rows
}

// oddRows are what a part may hold and a reader may get wrong.
func oddRows() []TileRow {
	yearZero := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastYear := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli()
	rows := []TileRow{
		{yearZero, yearZero + 1, "year 0", 1, 1},
		{lastYear, lastYear + 1, "year 9999", 1, 1},
		{-1, 0, "the last millisecond before 1970", 1, 1},
		{math.MinInt64, math.MaxInt64, "limits", math.MaxInt64, math.MinInt64},
		{0, 1, "beyond 2^53", 1<<53 + 1, 1<<53 + 3},
	}
	for _, course := range []string{
		"", " ", "größe", "日本語", "🎓", "e\u0301", "\u00e9", "a\x00b", "\"quoted\"\\", "a\nb",
		"\ufeff", "\u2028",
	} {
		rows = append(rows, TileRow{0, 300_000, course, 2, 1})
	}
	return rows
}

// Another implementation of Parquet, in another language, reads the same rows.
func TestTileRowsInAnotherReader(t *testing.T) {
	folder := t.TempDir()
	var names []string
	var files []string
	var want [][]TileRow
	for _, test := range []struct {
		name string
		rows []TileRow
	}{
		{"none", []TileRow{}},
		{"one", []TileRow{{0, 300_000, "go-101", 3, 2}}},
		{"odd", oddRows()},
		{"the same 5000 times", slices.Repeat([]TileRow{{-300_000, 0, "go-101", 3, 2}}, 5000)},
		{"few courses, many pages", manyRows(100_000, 300)},
		{"a course in each row", manyRows(30_000, 30_000)},
	} {
		body, err := EncodeTileRows(test.rows)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, fmt.Sprintf("part-%05d.parquet", len(files)))
		if err := os.WriteFile(file, body, 0o600); err != nil {
			t.Fatal(err)
		}
		names, files, want = append(names, test.name), append(files, file), append(want, test.rows)
	}
	got := readWithHyparquet(t, files...)
	if len(got) != len(want) {
		t.Fatalf("%d files read, of %d", len(got), len(want))
	}
	for i, name := range names {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
	}
}
