package hops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TileRow is a row of the tile: what one batch saw of one course in one window.
//
// WindowStart and WindowEnd are in milliseconds since the Unix epoch; the end is
// not in the window. Events counts offsets, so a resent event counts as often as
// it is in the log, and the events of several batches add up.
// DistinctEventIDs counts ids within the batch: those of several batches do not
// add up, since a resend may come in a later one.
//
// A record that the contract refuses has no course. It is counted under the
// empty CourseID, in the window of the record's own timestamp, with no event id:
// so the events of all rows are all records of the ranges.
type TileRow struct {
	WindowStart      int64  `parquet:"window_start,timestamp(millisecond)"`
	WindowEnd        int64  `parquet:"window_end,timestamp(millisecond)"`
	CourseID         string `parquet:"course_id,dict"`
	Events           int64  `parquet:"events"`
	DistinctEventIDs int64  `parquet:"distinct_event_ids"`
}

// EncodeTileRows returns the rows as a Parquet file with one row group,
// compressed with Snappy. The bytes depend on the rows and their order alone.
func EncodeTileRows(rows []TileRow) ([]byte, error) {
	var out bytes.Buffer
	err := parquet.Write(&out, rows,
		parquet.Compression(&parquet.Snappy),
		// As Spark writes, so that its every version reads them.
		parquet.DataPageVersion(1),
		// Not the version of the build, which would change the bytes.
		parquet.CreatedBy("hopcheck", "1", "tile"),
	)
	if err != nil {
		return nil, fmt.Errorf("encoding %d rows as Parquet: %w", len(rows), err)
	}
	return out.Bytes(), nil
}

// tileSchema is the columns of a part: another file's are no tile's, though the
// library would read what it lacks as zeros.
var tileSchema = parquet.SchemaOf(TileRow{})

// DecodeTileRows returns the rows of a Parquet file, in its order. It fails on a
// file that is not whole and on one with other columns than a tile's.
func DecodeTileRows(body []byte) (rows []TileRow, err error) {
	defer func() {
		// The library's answer to some damage is a panic.
		if wrong := recover(); wrong != nil {
			rows, err = nil, fmt.Errorf("decoding Parquet of %d bytes: %v", len(body), wrong)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("decoding Parquet of %d bytes: %w", len(body), err)
	}
	if !parquet.EqualNodes(file.Schema(), tileSchema) {
		return nil, fmt.Errorf("its columns are not a tile's: %v", file.Schema())
	}
	rows, err = parquet.Read[TileRow](bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("decoding Parquet of %d bytes: %w", len(body), err)
	}
	return rows, nil
}

// cellKey names a row of a batch.
type cellKey struct {
	start  int64
	course string
}

// cell counts what belongs to one row.
type cell struct {
	events int64
	ids    map[string]struct{}
}

// tally counts a batch's records per window and course.
type tally struct {
	window int64 // milliseconds
	cells  map[cellKey]*cell
}

func newTally(window time.Duration) *tally {
	return &tally{window: window.Milliseconds(), cells: make(map[cellKey]*cell)}
}

func (t *tally) add(record *kgo.Record) {
	seen, err := observe(record.Key, record.Value)
	if err != nil {
		t.cell(record.Timestamp.UnixMilli(), "").events++
		return
	}
	c := t.cell(seen.at.UnixMilli(), seen.course)
	c.events++
	c.ids[seen.id] = struct{}{}
}

func (t *tally) cell(at int64, course string) *cell {
	into := at % t.window
	if into < 0 {
		into += t.window // before 1970
	}
	key := cellKey{at - into, course}
	c := t.cells[key]
	if c == nil {
		c = &cell{ids: make(map[string]struct{})}
		t.cells[key] = c
	}
	return c
}

// rows returns the counts, ordered by window and course.
func (t *tally) rows() []TileRow {
	rows := make([]TileRow, 0, len(t.cells))
	for key, c := range t.cells {
		rows = append(rows, TileRow{
			WindowStart: key.start, WindowEnd: key.start + t.window, CourseID: key.course,
			Events: c.events, DistinctEventIDs: int64(len(c.ids)),
		})
	}
	slices.SortFunc(rows, func(a, b TileRow) int {
		return cmp.Or(cmp.Compare(a.WindowStart, b.WindowStart),
			cmp.Compare(a.CourseID, b.CourseID))
	})
	return rows
}

// observation is what counts of an accepted event.
type observation struct {
	id, course string
	at         time.Time
}

// observe holds a record against the contract and returns what counts of it.
// Names are compared as the contract does, not regardless of case as
// encoding/json does for a struct.
func observe(key, value []byte) (observation, error) {
	if err := Classify(key, value); err != nil {
		return observation{}, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return observation{}, fmt.Errorf("decoding an accepted event: %w", err)
	}
	id, noID := textField(fields, "event_id")
	course, noCourse := textField(fields, "course_id")
	text, noTime := textField(fields, "occurred_at")
	if noID != nil || noCourse != nil || noTime != nil {
		return observation{}, errors.New("an accepted event lacks a field")
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return observation{}, fmt.Errorf("decoding an accepted event: %w", err)
	}
	return observation{id: id, course: course, at: at}, nil
}
