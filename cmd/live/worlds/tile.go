package worlds

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// Sizes of the tile world.
const (
	tileWindow  = 30 * time.Minute
	tileBatch   = 10
	tileTrigger = 500 * time.Millisecond
	readEvery   = 3 * time.Second // of the concurrent reader
)

func init() {
	register(World{
		Name:   "tile",
		Says:   "1 tile; readers through the sink log",
		Topics: []Topic{{Name: bus.Progress, Partitions: Partitions}},
		Processes: []Process{
			{Name: "tile", Replicas: 1, Run: runTile},
			{Name: "tile-reader", Replicas: 1, Run: readTileAgain},
			{Name: "last-reader", Replicas: 1, Last: true, Run: readTileOnce},
		},
		Values:   bus.Generate,
		Identify: bus.Identify,
		Describe: bus.DescribeTile,
		Classify: bus.CellsOf(tileWindow),
		Torn:     torn,
		Promises: []props.Property{
			props.TileExact(bus.Progress, bus.TilePrefix),
			props.RangesTouch(bus.Progress, bus.TilePrefix),
			props.BatchWrittenOnce(bus.TilePrefix),
			props.CompactSafe(bus.TilePrefix),
			props.ListedOrGarbage(bus.TilePrefix),
			props.OneWinner(bus.TilePrefix),
		},
		Spec: "tile",
		At: specs.Topology{
			Topic: bus.Progress, Proc: "tile", Partitions: Partitions, Prefix: bus.TilePrefix,
			Compact: hops.CompactEvery,
		},
		Drained: tileDrained,
		Points: crossed("tile", 1, map[string]int{"Fetch": 4, "ListOffsets": 4},
			map[string]int{"put": 8, "putif": 16, "get": 4, "list": 4}),
	})
}

// torn is what a crash of a writer with temporary files leaves in a tile's folders:
// nothing that a log may take for an entry.
var torn = map[string][]byte{
	bus.TilePrefix + "/checkpoint/offsets/.0.6e1f.tmp":      []byte("v1\n{"),
	bus.TilePrefix + "/" + hops.SinkLogDir + "/.0.77ab.tmp": []byte("v"),
}

func runTile(ctx context.Context, env Env) error {
	names := 0
	t, err := hops.NewTile(hops.TileConfig{
		Kafka: env.Kafka, Store: env.Objects, Topic: env.Names.Of(bus.Progress),
		Prefix: bus.TilePrefix, Window: tileWindow, Trigger: tileTrigger,
		MaxOffsetsPerBatch: tileBatch, CoolDown: 10 * time.Second, Alert: alert(env),
		NewID: func() string { // of the run, so that it says who wrote what
			names++
			return fmt.Sprintf("%s-life-%d-%d", env.Instance, env.Life, names)
		},
	})
	if err != nil {
		return err
	}
	return t.Run(ctx)
}

// readTileAgain reads the tile again and again, and reports what it found.
func readTileAgain(ctx context.Context, env Env) error {
	for ctx.Err() == nil {
		select {
		case <-time.After(readEvery):
		case <-ctx.Done():
			return nil
		}
		if err := readTileOnce(ctx, env); err != nil {
			return err
		}
	}
	return nil
}

// readTileOnce reads the tile through the sink log and reports what it found.
func readTileOnce(ctx context.Context, env Env) error {
	rows, err := hops.ReadTile(ctx, env.Objects, bus.TilePrefix)
	var damage *hops.TileDamageError
	if errors.As(err, &damage) {
		env.Report("tile-read-failed", nil, damage.Error())
		return nil
	}
	if err != nil {
		return err
	}
	env.Report("tile-read", bus.CellCounts(rows), "")
	return nil
}

// tileDrained reports whether all that was appended is in the tile, and the last batch
// that is planned is committed.
func tileDrained(ctx context.Context, r Reader) (bool, error) {
	ends, err := r.Ends(ctx, bus.Progress)
	if err != nil {
		return false, err
	}
	rows, err := hops.ReadTile(ctx, r.Objects(), bus.TilePrefix)
	if err != nil {
		return false, err
	}
	left := int64(0)
	for _, end := range ends {
		left += end
	}
	for _, row := range rows {
		left -= row.Events
	}
	planned, err := lastBatch(ctx, r, "offsets")
	if err != nil {
		return false, err
	}
	committed, err := lastBatch(ctx, r, "commits")
	return left == 0 && planned == committed, err
}

// lastBatch returns the greatest number in a folder of the checkpoint, -1 for none.
func lastBatch(ctx context.Context, r Reader, folder string) (int64, error) {
	const most = 100_000
	prefix := bus.TilePrefix + "/checkpoint/" + folder + "/"
	keys, err := r.Objects().List(ctx, prefix, "", most)
	last := int64(-1)
	for _, key := range keys {
		n, err := strconv.ParseInt(strings.TrimPrefix(key, prefix), 10, 64)
		if err == nil {
			last = max(last, n)
		}
	}
	return last, err
}
