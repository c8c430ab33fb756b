package bus

import (
	"errors"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// RejectedCell is what the tile counts all records under that have no course.
const RejectedCell = "rejected"

// DistinctOf names the count of distinct ids of a cell.
const DistinctOf = "distinct "

// CellsOf returns what says under which window and course a record of the bus is
// counted, by a tile with such windows, or by the morning model, whose window is a day.
func CellsOf(window time.Duration) tap.Classify {
	return func(r tap.Raw) (class, cell string) {
		if r.Topic != Progress {
			return "", ""
		}
		var reject *hops.Reject
		if errors.As(hops.Classify(r.Key, r.Value), &reject) {
			return reject.Reason, RejectedCell
		}
		course, at := CourseAndTime(r.Value)
		return "", CellName(at.Truncate(window).UnixMilli(), course)
	}
}

// CellName names a window, by its start in milliseconds since the Unix epoch, and a
// course.
func CellName(start int64, course string) string {
	return time.UnixMilli(start).UTC().Format(time.RFC3339) + " " + course
}

// CellCounts adds up the events of rows by cell, in the order of their first row.
func CellCounts(rows []hops.TileRow) []model.Count {
	var counts []model.Count
	at := make(map[string]int)
	for _, row := range rows {
		cell := RejectedCell
		if row.CourseID != "" {
			cell = CellName(row.WindowStart, row.CourseID)
		}
		i, ok := at[cell]
		if !ok {
			i = len(counts)
			at[cell] = i
			counts = append(counts, model.Count{Of: cell})
		}
		counts[i].N += row.Events
	}
	return counts
}
