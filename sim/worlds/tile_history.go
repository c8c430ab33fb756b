package worlds

import (
	"errors"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// rejectedCell is what the tile counts all records under that have no course.
const rejectedCell = "rejected"

// distinctOf names the count of distinct ids of a cell.
const distinctOf = "distinct "

// cellsOf returns what says under which window and course a record of the bus is
// counted, by a tile with such windows, or by the morning model, whose window is a day.
func cellsOf(window time.Duration) tap.Classify {
	return func(r tap.Raw) (class, cell string) {
		if r.Topic != Progress {
			return "", ""
		}
		var reject *hops.Reject
		if errors.As(hops.Classify(r.Key, r.Value), &reject) {
			return reject.Reason, rejectedCell
		}
		course, at := courseAndTime(r.Value)
		return "", cellName(at.Truncate(window).UnixMilli(), course)
	}
}

// cellName names a window, by its start in milliseconds since the Unix epoch, and a
// course.
func cellName(start int64, course string) string {
	return time.UnixMilli(start).UTC().Format(time.RFC3339) + " " + course
}

// cellCounts adds up the events of rows by cell, in the order of their first row.
func cellCounts(rows []hops.TileRow) []model.Count {
	var counts []model.Count
	at := make(map[string]int)
	for _, row := range rows {
		cell := rejectedCell
		if row.CourseID != "" {
			cell = cellName(row.WindowStart, row.CourseID)
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

// DescribeTile says what an object of a tile holds: the ranges of a planned batch, the
// files that an entry of the sink log adds, the events and distinct ids of a part.
func DescribeTile(key string, body []byte) ([]model.Part, []model.Count) {
	name, ok := strings.CutPrefix(key, TilePrefix+"/")
	switch {
	case !ok:
	case strings.HasPrefix(name, "checkpoint/offsets/"):
		return plannedRanges(body), nil
	case strings.HasPrefix(name, hops.SinkLogDir+"/"):
		return nil, addedFiles(body)
	case strings.HasPrefix(name, "part-"):
		return nil, partCounts(body)
	}
	return nil, nil
}

func plannedRanges(body []byte) []model.Part {
	plan, err := hops.ParseBatchPlan(body)
	if err != nil {
		return nil
	}
	var parts []model.Part
	for _, r := range plan.Ranges {
		part := model.PartOf(plan.Topic, r.Partition)
		part.Offset, part.End = r.Start, r.End
		parts = append(parts, part)
	}
	return parts
}

func addedFiles(body []byte) []model.Count {
	files, err := hops.ParseSinkLog(body)
	if err != nil {
		return nil
	}
	var counts []model.Count
	for _, f := range files {
		if f.Action == "add" {
			counts = append(counts, model.Count{Of: strings.TrimPrefix(f.Path, "/"), N: f.Size})
		}
	}
	return counts
}

func partCounts(body []byte) []model.Count {
	rows, err := hops.DecodeTileRows(body)
	if err != nil {
		return nil
	}
	counts := cellCounts(rows)
	for _, row := range rows {
		if row.CourseID != "" {
			counts = append(counts, model.Count{
				Of: distinctOf + cellName(row.WindowStart, row.CourseID), N: row.DistinctEventIDs,
			})
		}
	}
	return counts
}

// orphans counts parts that no entry of the sink log names: what crashes left, and no
// reader through the log ever sees.
func orphans() props.Evidence {
	return props.Evidence{
		Name: "orphan parts never read",
		Count: func(h *model.History) int {
			named := make(map[string]bool)
			parts := 0
			audit := model.Audit(h)
			for _, o := range audit.Objects {
				name, _ := strings.CutPrefix(o.Key, TilePrefix+"/")
				switch {
				case strings.HasPrefix(name, hops.SinkLogDir+"/"):
					for _, c := range o.Counts {
						named[c.Of] = true
					}
				case strings.HasPrefix(name, "part-"):
					parts++
				}
			}
			return parts - len(named)
		},
	}
}
