package worlds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

// TilePrefix is the folder of hop 3 in the store.
const TilePrefix = "tile"

// TileWindow is the length of a window of event time in the tile worlds.
const TileWindow = 30 * time.Minute

// Sizes of the tile worlds: batches of a few offsets, so that a run has more than the
// ten that a compaction takes, and short pages of listings.
const (
	tileEvents   = 42
	tileBatch    = 3
	tileTrigger  = 500 * time.Millisecond
	tileListPage = 5
	// readEvery is how often the concurrent reader reads, virtual.
	readEvery = 3 * time.Second
)

func init() {
	for name, s := range map[string]TileSetup{
		"tile":         {Replicas: 1},
		"tile-twins":   {Replicas: 2},
		"tile-lost":    {Replicas: 1, Actor: LoseCheckpoint},
		"tile-trimmed": {Replicas: 1, Actor: Trim},
	} {
		w := Tile(name, s)
		spec := "tile"
		if s.Actor != nil {
			spec = "" // its accidents are none of the specification's
		}
		register(Entry{
			World: w, Hop: 3, Spec: spec, At: tileTopology,
			Claim: "exactly-once for committed micro-batches, read through the sink log",
			WithEvents: func(values [][]byte) sim.World {
				w.Input = func(*rand.Rand) []sim.Input { return inputs(values) }
				return w
			},
		})
	}
}

// tileTopology says where in a history a tile world's traffic is.
var tileTopology = specs.Topology{
	Topic: Progress, Proc: "tile", Partitions: partitions, Prefix: TilePrefix,
	Compact: hops.CompactEvery,
}

// TileSetup is what differs between the tile worlds.
type TileSetup struct {
	// Replicas live on one checkpoint, which one of them should have alone.
	Replicas int
	// Window is the length of a window of event time, 0: TileWindow.
	Window time.Duration
	// Actor does something to the world that a tile must stop at, with a clear error;
	// nil for none.
	Actor func(context.Context, sim.Env) error
}

// Tile is the world of hop 3 under a name: who writes the tile, a reader that goes by
// the sink log while they do, and one that reads when all is done.
func Tile(name string, s TileSetup) sim.World {
	says := "1 tile"
	if s.Replicas > 1 {
		says = strconv.Itoa(s.Replicas) + " tiles on one checkpoint"
	}
	processes := []sim.Process{
		{Name: "tile", Replicas: s.Replicas, Run: s.Run},
		{Name: "tile-reader", Run: ReadTileAgain},
		{Name: "last-reader", Last: true, Run: ReadTileOnce},
	}
	if s.Actor != nil {
		says += ", and an accident that it must stop at"
		processes = append(processes, sim.Process{Name: "accident", Run: s.Actor})
	}
	return sim.World{
		Name: name, Says: says + "; readers through the sink log",
		Topics:    []sim.Topic{{Name: Progress, Partitions: partitions}},
		Processes: processes,
		Input: func(rng *rand.Rand) []sim.Input {
			return inputs(Generate(rng, tileEvents))
		},
		Identify: identify,
		Describe: DescribeTile,
		Classify: cellsOf(TileWindow),
		Stored:   tornTile,
		ListPage: tileListPage,
		Promises: []props.Property{
			props.TileExact(Progress, TilePrefix),
			props.RangesTouch(Progress, TilePrefix),
			props.BatchWrittenOnce(TilePrefix),
			props.CompactSafe(TilePrefix),
			props.ListedOrGarbage(TilePrefix),
			props.OneWinner(TilePrefix),
		},
		Sometimes: []props.Sometimes{props.SometimesCrash()},
		Evidence:  []props.Evidence{tileCounts(), orphans()},
		Drained:   s.drained,
	}
}

// tornTile is what a crash of a writer with temporary files leaves in a tile's folders:
// nothing that a log may take for an entry.
var tornTile = map[string][]byte{
	TilePrefix + "/checkpoint/offsets/.0.6e1f.tmp":         []byte("v1\n{\"batchWaterm"),
	TilePrefix + "/" + hops.SinkLogDir + "/.0.77ab.tmp":    []byte("v"),
	TilePrefix + "/" + hops.SinkLogDir + "/.9.compact.tmp": {},
}

// Run is one life of a tile.
func (s TileSetup) Run(ctx context.Context, env sim.Env) error {
	tile, err := hops.NewTile(s.Config(env))
	if err != nil {
		return err
	}
	err = tile.Run(ctx)
	var damage *hops.TileDamageError
	var lost *hops.RangeLostError
	if s.Actor != nil && (errors.As(err, &damage) || errors.As(err, &lost)) {
		return nil // an operator reads the alert; starting again would not help
	}
	return err
}

// Config returns the configuration of a tile in a world.
func (s TileSetup) Config(env sim.Env) hops.TileConfig {
	names := 0
	return hops.TileConfig{
		Kafka: env.Kafka, Store: env.Objects, Topic: Progress, Prefix: TilePrefix,
		Window: cmp.Or(s.Window, TileWindow), Trigger: tileTrigger, MaxOffsetsPerBatch: tileBatch,
		CoolDown: 10 * time.Second, Alert: alert(env),
		NewID: func() string { // of the run, so that it says who wrote what
			names++
			return fmt.Sprintf("%s-life-%d-%d", env.Instance, env.Life, names)
		},
	}
}

// ReadTileAgain reads the tile again and again, and reports what it found.
func ReadTileAgain(ctx context.Context, env sim.Env) error {
	for ctx.Err() == nil {
		select {
		case <-time.After(readEvery):
		case <-ctx.Done():
			return nil
		}
		if err := ReadTileOnce(ctx, env); err != nil {
			return err
		}
	}
	return nil
}

// ReadTileOnce reads the tile through the sink log and reports what it found.
func ReadTileOnce(ctx context.Context, env sim.Env) error {
	rows, err := hops.ReadTile(ctx, env.Objects, TilePrefix)
	var damage *hops.TileDamageError
	if errors.As(err, &damage) {
		env.Report("tile-read-failed", nil, damage.Error())
		return nil
	}
	if err != nil {
		return err
	}
	env.Report("tile-read", cellCounts(rows), "")
	return nil
}
