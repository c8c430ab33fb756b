package hops

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TileConfig says what a [Tile] aggregates, from where to where. Store, Topic
// and Prefix are required; zero values of the rest mean the defaults written
// here.
type TileConfig struct {
	// Kafka options come last, after the hop's own: brokers, TLS, dialer, hooks.
	Kafka []kgo.Opt
	// Store takes the tile, its sink log and its checkpoint.
	Store ObjectStore
	// Topic is read. No group is: the checkpoint alone says where to go on.
	Topic string
	// Prefix is the tile's folder: letters, digits and ._=/- without a slash at
	// its ends. A tile has one prefix, and a prefix one running Tile.
	Prefix string
	// BaseURI is where Spark finds the root of Store, such as "s3a://lake" or
	// "file:///srv/lake". The sink log names files by it. Default "": absolute
	// paths, for which Spark finds no rows, even where they are right; our readers
	// go by the end of a path, and read the tile whatever the base is.
	BaseURI string
	// Window is the length of a window of event time, in whole milliseconds.
	// Default 5 minutes. Changing it needs a new prefix.
	Window time.Duration
	// Trigger is the wait between two batches, except while the tile is behind.
	// Default 10 s.
	Trigger time.Duration
	// MaxOffsetsPerBatch bounds the offsets of a batch, over all partitions, and
	// so the event ids that are held in memory. Default 100,000.
	MaxOffsetsPerBatch int
	// MaxRowsPerPart bounds the rows of one Parquet file. Default 1,000,000.
	MaxRowsPerPart int
	// Retries is how many times in a row a failed call is tried again before an
	// alert and a rest of CoolDown. Default 4; negative means none.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to CoolDown.
	// Default 100 ms.
	Backoff time.Duration
	// CoolDown is the rest after the retries are used up. Default 30 s.
	CoolDown time.Duration
	// CallTimeout bounds one call of the store or of Kafka. Default 10 s.
	CallTimeout time.Duration
	// NewID mints the names of runs and parts. No two may ever be the same.
	// Default [NewEventID].
	NewID func() string
	// Alert, if set, hears what an operator must know. It is called from Run and
	// must not block.
	Alert func(Alert)
}

// Tile counts a topic's events per window and course, in micro-batches, into
// Parquet files: exactly once for every batch in the sink log, for readers that
// go by the sink log ([ReadTile], or Spark). Build one with [NewTile]; call Run
// once.
//
// A batch writes its ranges to the checkpoint, reads exactly them, writes its
// parts under names that nobody else has, names the parts in the sink log, and
// commits to the checkpoint. Ranges and sink log are written only where nothing
// is, so of two runs one wins each batch. Parts that no sink log names are
// garbage.
type Tile struct {
	cfg     TileConfig
	source  tileSource // tests set it
	run     string     // names this process in what it plans
	started atomic.Bool
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9._=-]+(/[A-Za-z0-9._=-]+)*$`)

// NewTile returns a tile that connects when Run begins. It fails when the
// configuration cannot work.
func NewTile(cfg TileConfig) (*Tile, error) {
	if cfg.Store == nil || cfg.Topic == "" || cfg.Prefix == "" {
		return nil, errors.New("tile: Store, Topic and Prefix are required")
	}
	if !prefixForm.MatchString(cfg.Prefix) {
		return nil, fmt.Errorf("tile: Prefix %q is not letters, digits and ._=- in folders",
			cfg.Prefix)
	}
	cfg.BaseURI = strings.TrimSuffix(cfg.BaseURI, "/")
	cfg.Window = orDefault(cfg.Window, 5*time.Minute)
	cfg.Trigger = orDefault(cfg.Trigger, 10*time.Second)
	cfg.MaxOffsetsPerBatch = orDefault(cfg.MaxOffsetsPerBatch, 100_000)
	cfg.MaxRowsPerPart = orDefault(cfg.MaxRowsPerPart, 1_000_000)
	cfg.Retries = orDefault(cfg.Retries, 4)
	cfg.Backoff = orDefault(cfg.Backoff, 100*time.Millisecond)
	cfg.CoolDown = orDefault(cfg.CoolDown, 30*time.Second)
	cfg.CallTimeout = orDefault(cfg.CallTimeout, 10*time.Second)
	if min(cfg.Window, cfg.Trigger, cfg.Backoff, cfg.CoolDown, cfg.CallTimeout) < 0 ||
		min(cfg.MaxOffsetsPerBatch, cfg.MaxRowsPerPart) < 0 {
		return nil, errors.New("tile: durations and limits must not be negative")
	}
	if cfg.Window%time.Millisecond != 0 {
		return nil, fmt.Errorf("tile: Window %v is not whole milliseconds", cfg.Window)
	}
	if cfg.NewID == nil {
		cfg.NewID = NewEventID
	}
	if cfg.Alert == nil {
		cfg.Alert = func(Alert) {}
	}
	t := &Tile{cfg: cfg}
	if err := kgo.ValidateOpts(cfg.Kafka...); err != nil {
		return nil, fmt.Errorf("tile: %w", err)
	}
	return t, nil
}

// Run makes batches until ctx ends, and then returns nil: a batch that is under
// way is left to the next run. It returns early with a [*TileDamageError], a
// [*TileConflictError] or a [*RangeLostError]; no log was changed by the batch
// that met it.
func (t *Tile) Run(ctx context.Context) error {
	if t.started.Swap(true) {
		return errors.New("tile: Run was called before")
	}
	t.run = t.cfg.NewID()
	if t.source == nil {
		source, err := t.openKafka()
		if err != nil {
			return err
		}
		t.source = source
	}
	defer t.source.close()
	err := t.batches(ctx)
	if ctx.Err() != nil && !final(err) {
		return nil
	}
	t.alert(AlertStopped, "%v", err)
	return err
}

// batches recovers, ends what the run before has begun, and goes on until an
// error: at the latest that of ctx.
func (t *Tile) batches(ctx context.Context) error {
	from, plan, err := t.recover(ctx)
	if err != nil {
		return err
	}
	batch := from.last
	switch {
	case from.again:
		err = t.runBatch(ctx, batch, plan)
	case from.commit:
		err = t.commit(ctx, batch)
	}
	for err == nil {
		var next BatchPlan
		var more, behind bool
		next, more, behind, err = t.plan(ctx, batch+1, plan)
		if err == nil && more {
			if err = t.writePlan(ctx, batch+1, next); err == nil {
				batch, plan = batch+1, next
				err = t.runBatch(ctx, batch, plan)
			}
		}
		if err == nil && !behind {
			sleep(ctx, t.cfg.Trigger)
			err = ctx.Err()
		}
	}
	return err
}

// final says whether an error is a verdict, which no retry changes.
func final(err error) bool {
	var damage *TileDamageError
	var conflict *TileConflictError
	var lost *RangeLostError
	return errors.As(err, &damage) || errors.As(err, &conflict) || errors.As(err, &lost)
}

func (t *Tile) alert(what, format string, args ...any) {
	t.cfg.Alert(Alert{Hop: "tile", What: what, Detail: fmt.Sprintf(format, args...)})
}
