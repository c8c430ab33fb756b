package hops

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTileRowsReadBack(t *testing.T) {
	for _, n := range []int{0, 1, 5000} {
		rows := []TileRow{}
		for i := range int64(n) {
			rows = append(rows, TileRow{
				WindowStart: i / 7 * 300_000, WindowEnd: i/7*300_000 + 300_000,
				CourseID: fmt.Sprintf("course-%d", i%7), Events: i, DistinctEventIDs: i / 2,
			})
		}
		body, err := EncodeTileRows(rows)
		if err != nil {
			t.Fatal(err)
		}
		again, err := EncodeTileRows(rows)
		if err != nil || !bytes.Equal(body, again) {
			t.Errorf("%d rows: other bytes the second time, %v", n, err)
		}
		got, err := DecodeTileRows(body)
		if diff := cmp.Diff(rows, append([]TileRow{}, got...)); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if _, err := DecodeTileRows(body[:len(body)-5]); err == nil {
			t.Error("a torn file is read")
		}
	}
}

// Spark takes names and types of columns from the file.
func TestTileSchema(t *testing.T) {
	body, err := EncodeTileRows([]TileRow{{CourseID: "go-101"}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	want := `message TileRow {
	required int64 window_start (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
	required int64 window_end (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
	required binary course_id (STRING);
	required int64 events (INT(64,true));
	required int64 distinct_event_ids (INT(64,true));
}`
	if diff := cmp.Diff(want, file.Schema().String()); diff != "" {
		t.Error(diff)
	}
	// Encodings that every reader knows.
	for _, column := range file.Metadata().RowGroups[0].Columns {
		got := fmt.Sprint(column.MetaData.Codec, column.MetaData.Encoding)
		if got != "SNAPPY [PLAIN]" && got != "SNAPPY [PLAIN RLE_DICTIONARY]" {
			t.Errorf("%v: %s", column.MetaData.PathInSchema, got)
		}
	}
}

// Of another file, the library would give what is missing as zeros.
func TestDecodeTileRowsRefusesOtherColumns(t *testing.T) {
	type renamed struct {
		WindowStart      int64  `parquet:"window_start,timestamp(millisecond)"`
		WindowEnd        int64  `parquet:"window_end,timestamp(millisecond)"`
		CourseID         string `parquet:"course"`
		Events           int64  `parquet:"events"`
		DistinctEventIDs int64  `parquet:"distinct_event_ids"`
	}
	type micros struct {
		WindowStart      int64  `parquet:"window_start,timestamp(microsecond)"`
		WindowEnd        int64  `parquet:"window_end,timestamp(microsecond)"`
		CourseID         string `parquet:"course_id"`
		Events           int64  `parquet:"events"`
		DistinctEventIDs int64  `parquet:"distinct_event_ids"`
	}
	type nulls struct {
		WindowStart      int64  `parquet:"window_start,timestamp(millisecond)"`
		WindowEnd        int64  `parquet:"window_end,timestamp(millisecond)"`
		CourseID         string `parquet:"course_id"`
		Events           *int64 `parquet:"events"`
		DistinctEventIDs int64  `parquet:"distinct_event_ids"`
	}
	for _, body := range [][]byte{
		parquetOf(t, struct {
			V string `parquet:"v"`
		}{"x"}),
		parquetOf(t, renamed{1, 2, "go-101", 3, 3}),
		parquetOf(t, micros{1, 2, "go-101", 3, 3}),
		parquetOf(t, nulls{1, 2, "go-101", nil, 3}),
	} {
		rows, err := DecodeTileRows(body)
		if err == nil || !strings.Contains(err.Error(), "columns are not a tile's") {
			t.Error(rows, err)
		}
	}
}

func parquetOf[T any](t *testing.T, row T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, []T{row}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// One byte that is not what was written is an error or changes nothing. It is
// neither a panic nor other rows.
func TestDecodeTileRowsOfDamage(t *testing.T) {
	rows := manyRows(9, 3)
	body, err := EncodeTileRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		spoilt := bytes.Clone(body)
		spoilt[i] ^= 0xff
		got, err := DecodeTileRows(spoilt)
		if err == nil && !slices.Equal(got, rows) {
			t.Errorf("byte %d of %d: %v", i, len(body), got)
		}
	}
}

func TestTally(t *testing.T) {
	at := func(id, course string, when string) *kgo.Record {
		e := event(id)
		e.CourseID = course
		e.OccurredAt, _ = time.Parse(time.RFC3339, when)
		return &kgo.Record{Key: e.Key(), Value: mustValue(t, e)}
	}
	counts := newTally(5 * time.Minute)
	for _, record := range []*kgo.Record{
		at("e1", "go-101", "2026-03-01T08:00:00Z"),
		at("e2", "go-101", "2026-03-01T08:04:59.999Z"),
		at("e1", "go-101", "2026-03-01T09:00:00+01:00"), // a resend
		at("e3", "go-101", "2026-03-01T08:05:00Z"),
		at("e4", "art-1", "2026-03-01T08:00:00Z"),
		at("e5", "art-1", "1969-12-31T23:59:59Z"),
		{Value: []byte("not JSON"), Timestamp: time.UnixMilli(1_772_352_060_000)},
	} {
		counts.add(record)
	}
	const start, step = 1_772_352_000_000, 300_000
	want := []TileRow{
		{-step, 0, "art-1", 1, 1},
		{start, start + step, "", 1, 0},
		{start, start + step, "art-1", 1, 1},
		{start, start + step, "go-101", 3, 2},
		{start + step, start + 2*step, "go-101", 1, 1},
	}
	if diff := cmp.Diff(want, counts.rows()); diff != "" {
		t.Error(diff)
	}
}

// Field names are those of the contract to the letter: what differs in case is
// an unknown field.
func TestTallyReadsAsTheContractDoes(t *testing.T) {
	value := bytes.Replace(mustValue(t, event("e1")), []byte("{"),
		[]byte(`{"Course_ID":"other",`), 1)
	value = bytes.Replace(value, []byte("}"), []byte(`,"EVENT_ID":"e9"}`), 1)
	seen, err := observe([]byte("ada"), value)
	if err != nil || seen.course != "go-101" || seen.id != "e1" {
		t.Error(seen, err)
	}
}
