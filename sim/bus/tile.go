package bus

import (
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
)

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
	counts := CellCounts(rows)
	for _, row := range rows {
		if row.CourseID != "" {
			counts = append(counts, model.Count{
				Of: DistinctOf + CellName(row.WindowStart, row.CourseID), N: row.DistinctEventIDs,
			})
		}
	}
	return counts
}
