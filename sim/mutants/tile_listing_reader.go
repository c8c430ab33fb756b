package mutants

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "listing-reader", Case: "A9",
		Says: "the reader takes every file in the folder for data: after a crash it counts " +
			"what no sink log names",
		World:  withProcess(tileOne(), "last-reader", listParts), // the writer is right
		Breaks: props.ListedOrGarbage(worlds.TilePrefix).Name,
	})
}

// listParts reads the tile as any folder of Parquet files. The report is
// apache/spark#22331.
func listParts(ctx context.Context, env sim.Env) error {
	keys, err := listAll(ctx, env.Objects, worlds.TilePrefix+"/part-") // the mistake
	if err != nil {
		return err
	}
	var rows []hops.TileRow
	for _, key := range keys {
		body, _, err := env.Objects.Get(ctx, key)
		if err != nil {
			return err
		}
		more, err := hops.DecodeTileRows(body)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	env.Report("tile-read", countCells(rows), "")
	return nil
}

// countCells adds up events per window and course, and those without a course.
func countCells(rows []hops.TileRow) []model.Count {
	events := make(map[string]int64)
	for _, row := range rows {
		cell := "rejected"
		if row.CourseID != "" {
			start := time.UnixMilli(row.WindowStart).UTC().Format(time.RFC3339)
			cell = start + " " + row.CourseID
		}
		events[cell] += row.Events
	}
	var counts []model.Count
	for cell, n := range events {
		counts = append(counts, model.Count{Of: cell, N: n})
	}
	slices.SortFunc(counts, func(a, b model.Count) int { return strings.Compare(a.Of, b.Of) })
	return counts
}
