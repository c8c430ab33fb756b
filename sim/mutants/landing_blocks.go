package mutants

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// rotateAfter is how long a record may wait in a block that is not full, virtual.
const rotateAfter = time.Second

// blockWriter lands fixed blocks of offsets: when a block is full, or its records
// have waited long enough, what there is of it is stored under the block's name, in
// place of what there was, and committed. It fills in no holes, since the worlds'
// logs have none. The two functions are where it can go wrong.
type blockWriter struct {
	held map[int32]*block
	// store makes the store's object cover all lines of a block.
	store func(ctx context.Context, c *consumer, b *block) error
	// covered says up to which record to commit when a block is full because
	// current, the record in hand, belongs to the next one.
	covered func(b *block, current *kgo.Record) *kgo.Record
}

// newBlockWriter returns a writer without a mistake.
func newBlockWriter() *blockWriter {
	return &blockWriter{
		held:    make(map[int32]*block),
		store:   storeLonger,
		covered: func(b *block, _ *kgo.Record) *kgo.Record { return b.last },
	}
}

// run is one life.
func (w *blockWriter) run(ctx context.Context, env sim.Env) error {
	return loop{do: w.land, tick: w.rotate, options: []kgo.Opt{
		kgo.DisableAutoCommit(), kgo.OnPartitionsRevoked(w.drop), kgo.OnPartitionsLost(w.drop),
	}}.run(ctx, env)
}

// block is one block in hand: the lines from its start on, and what the store is
// known to have of it.
type block struct {
	key    string
	start  int64
	lines  []hops.Line
	last   *kgo.Record
	since  time.Time // when the first line came that is not stored; zero for none
	stored int       // lines in the store's object
	etag   string
}

// land is the work of a consumer that writes blocks.
func (w *blockWriter) land(ctx context.Context, c *consumer, batch []*kgo.Record) error {
	if err := c.bury(ctx, batch...); err != nil {
		return err
	}
	for _, r := range batch {
		b := w.held[r.Partition]
		if b != nil && len(b.lines) == worlds.BlockSize {
			if err := w.flush(ctx, c, b, w.covered(b, r)); err != nil {
				return err
			}
			b = nil
		}
		if b == nil {
			var err error
			if b, err = open(ctx, c, r); err != nil {
				return err
			}
			w.held[r.Partition] = b
		}
		b.lines, b.last = append(b.lines, lineOf(r)), r
		if b.since.IsZero() {
			// house: virtual clock because this runs in a bubble, where time.Now is the world's.
			b.since = time.Now()
		}
	}
	return nil
}

// rotate stores the blocks that have waited long enough.
func (w *blockWriter) rotate(ctx context.Context, c *consumer) error {
	for _, at := range slices.Sorted(maps.Keys(w.held)) {
		b := w.held[at]
		if b.since.IsZero() || time.Since(b.since) < rotateAfter {
			continue
		}
		if err := w.flush(ctx, c, b, b.last); err != nil {
			return err
		}
	}
	return nil
}

// flush stores what there is of a block, and commits up to last.
func (w *blockWriter) flush(
	ctx context.Context, c *consumer, b *block, last *kgo.Record,
) error {
	if err := w.store(ctx, c, b); err != nil {
		return err
	}
	b.since = time.Time{}
	return c.commitAt(ctx, last, last.Offset+1)
}

// drop forgets partitions that are another's now.
func (w *blockWriter) drop(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	for _, at := range gone[worlds.Progress] {
		delete(w.held, at)
	}
}

// open returns the block of r with the lines before r, which the store has: r is
// where the group's offset stands.
func open(ctx context.Context, c *consumer, r *kgo.Record) (*block, error) {
	start := r.Offset - r.Offset%worlds.BlockSize
	b := &block{key: hops.ObjectKey(r.Topic, r.Partition, start), start: start}
	if r.Offset == start {
		return b, nil
	}
	lines, err := b.look(ctx, c)
	if err != nil {
		return nil, err
	}
	if b.stored < int(r.Offset-start) {
		return nil, fmt.Errorf("object %s ends before the committed offset %d", b.key, r.Offset)
	}
	b.lines = lines[:r.Offset-start]
	return b, nil
}

// look reads what the store has.
func (b *block) look(ctx context.Context, c *consumer) ([]hops.Line, error) {
	body, etag, err := c.Objects.Get(ctx, b.key)
	if err != nil {
		return nil, err
	}
	lines, err := hops.ParseBody(body)
	b.stored, b.etag = len(lines), etag
	return lines, err
}

// storeLonger only ever replaces an object by a longer one.
func storeLonger(ctx context.Context, c *consumer, b *block) error {
	for len(b.lines) > b.stored {
		ok, etag, err := c.Objects.PutIf(ctx, b.key, hops.AppendBody(nil, b.lines...), b.etag)
		if err != nil {
			return err
		}
		if ok {
			b.stored, b.etag = len(b.lines), etag
		} else if _, err := b.look(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
