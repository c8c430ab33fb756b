//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// endlessLog makes its records up as they are read: four partitions of perPartition
// offsets each, a few hundred courses.
type endlessLog struct{ perPartition int64 }

func (l endlessLog) bounds(context.Context) (bounds []logBounds, err error) {
	for partition := range int32(4) {
		bounds = append(bounds, logBounds{partition, 0, l.perPartition})
	}
	return bounds, nil
}

func (l endlessLog) read(
	_ context.Context, partition int32, offset int64,
) (records []*kgo.Record, next int64, err error) {
	next = min(offset+500, l.perPartition)
	for ; offset < next; offset++ {
		minute := offset / 2000 % 1440
		value := fmt.Sprintf(`{"event_id":"e-%d-%d","learner_id":"ada","course_id":"course-%d",`+
			`"lesson_id":"41","position_s":90,"occurred_at":"2026-03-01T%02d:%02d:00Z"}`,
			partition, offset, offset%300, minute/60, minute%60)
		records = append(records,
			&kgo.Record{Offset: offset, Key: []byte("ada"), Value: []byte(value)})
	}
	return records, next, nil
}

func (l endlessLog) close() {}

// diskStore is a store in a folder, so that what a tile holds in memory is its own.
// A key with slashes is one file: the folder has no folders.
type diskStore struct{ folder string }

func (s diskStore) file(key string) string {
	return filepath.Join(s.folder, strings.ReplaceAll(key, "/", "@"))
}

func (s diskStore) Put(_ context.Context, key string, body []byte) (string, error) {
	return "", os.WriteFile(s.file(key), body, 0o600)
}

func (s diskStore) PutIf(
	_ context.Context, key string, body []byte, etag string,
) (bool, string, error) {
	if etag != "" {
		return false, "", errors.New("a tile only creates")
	}
	file, err := os.OpenFile(s.file(key), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, "", nil
	}
	if err == nil {
		_, err = file.Write(body)
		err = errors.Join(err, file.Close())
	}
	return err == nil, "", err
}

func (s diskStore) Get(_ context.Context, key string) ([]byte, string, error) {
	body, err := os.ReadFile(s.file(key))
	return body, "", err
}

func (s diskStore) Delete(_ context.Context, key string) error {
	return os.Remove(s.file(key))
}

func (s diskStore) List(_ context.Context, prefix, after string, limit int) ([]string, error) {
	files, err := filepath.Glob(s.file(prefix) + "*")
	var keys []string
	for _, file := range files {
		key := strings.ReplaceAll(filepath.Base(file), "@", "/")
		if key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys[:min(len(keys), limit)], err
}

// fullBatches is what a tile is made of: so many batches of so many offsets.
type fullBatches struct {
	log              tileSource
	batches, offsets int
}

// write makes a tile in a folder and returns when the last batch is committed.
func (f fullBatches) write(b testing.TB, folder string) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	// What a batch does after its commit is the removal of what a compaction
	// replaced, and then the question of how far the topic goes.
	stop := &stopAt{tileSource: f.log, asks: f.batches + 1, stop: cancel}
	tile, err := NewTile(TileConfig{
		Store: diskStore{folder}, Topic: topic, Prefix: tilePrefix,
		MaxOffsetsPerBatch: f.offsets, Trigger: time.Millisecond,
	})
	if err != nil {
		b.Fatal(err)
	}
	tile.source = stop
	if err := tile.Run(ctx); err != nil {
		b.Fatal(err)
	}
}

// stopAt ends a run when it asks for the last time how far the topic goes.
type stopAt struct {
	tileSource
	asks int
	stop context.CancelFunc
}

func (s *stopAt) bounds(ctx context.Context) ([]logBounds, error) {
	if s.asks--; s.asks == 0 {
		s.stop()
		return nil, ctx.Err()
	}
	return s.tileSource.bounds(ctx)
}

// BenchmarkTile writes and reads back a tile of a million events in ten batches,
// in a folder of the disk, making the events included. Rows are a batch's windows
// and courses.
func BenchmarkTile(b *testing.B) {
	const events, batches = 1_000_000, 10
	for b.Loop() {
		folder := b.TempDir()
		began := time.Now()
		fullBatches{endlessLog{events / 4}, batches, events / batches}.write(b, folder)
		wrote := time.Since(began)
		sum, rows, bytes := int64(0), 0, int64(0)
		for row, err := range TileRows(b.Context(), diskStore{folder}, tilePrefix) {
			if err != nil {
				b.Fatal(err)
			}
			sum, rows = sum+row.Events, rows+1
		}
		read := time.Since(began) - wrote
		files, _, err := readSinkLog(b.Context(), diskStore{folder}, tilePrefix)
		if err != nil {
			b.Fatal(err)
		}
		for _, file := range files {
			bytes += file.Size
		}
		if sum != events {
			b.Fatalf("%d events in the tile, want %d", sum, events)
		}
		b.ReportMetric(float64(events)/wrote.Seconds(), "events/s")
		b.ReportMetric(float64(rows)/wrote.Seconds(), "rows-written/s")
		b.ReportMetric(float64(rows)/read.Seconds(), "rows-read/s")
		b.ReportMetric(float64(rows), "rows")
		b.ReportMetric(float64(bytes)/float64(rows), "bytes/row")
	}
}

// heapMeter knows how much of the heap was in use at most, above what was in use
// at the start, in bytes. It looks at what a collection leaves, so that the
// collector's pace does not matter.
type heapMeter struct {
	base, peak int64
}

func newHeapMeter() *heapMeter { return &heapMeter{base: liveHeap()} }

func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold goes at the second
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}

func (m *heapMeter) look() { m.peak = max(m.peak, liveHeap()-m.base) }

// meteredLog looks at the heap when a batch reads the last of its partitions.
type meteredLog struct {
	tileSource
	meter *heapMeter
}

func (l meteredLog) read(
	ctx context.Context, partition int32, offset int64,
) ([]*kgo.Record, int64, error) {
	if partition == 3 {
		l.meter.look()
	}
	return l.tileSource.read(ctx, partition, offset)
}

// The memory of a tile is that of a batch, and of its reader that of a part:
// ten times the batches need no more. (What grows is the list of parts, by some
// hundred bytes each: see BenchmarkTileCompaction.)
func TestTileMemory(t *testing.T) {
	const most, slack = 2000, 100 << 10
	var write, read, all [2]int64
	for i, batches := range []int{10, 100} {
		folder, meter := t.TempDir(), newHeapMeter()
		log := meteredLog{endlessLog{int64(batches * most / 4)}, meter}
		fullBatches{log, batches, most}.write(t, folder)
		write[i] = meter.peak

		meter = newHeapMeter()
		sum, rows := int64(0), 0
		for row, err := range TileRows(t.Context(), diskStore{folder}, tilePrefix) {
			if err != nil {
				t.Fatal(err)
			}
			if sum, rows = sum+row.Events, rows+1; rows%300 == 0 {
				meter.look()
			}
		}
		if read[i] = meter.peak; sum != int64(batches)*most {
			t.Errorf("%d events in %d batches", sum, batches)
		}

		// The meter sees it where memory does grow.
		meter = newHeapMeter()
		held, err := ReadTile(t.Context(), diskStore{folder}, tilePrefix)
		if err != nil {
			t.Fatal(err)
		}
		meter.look()
		all[i] = meter.peak
		runtime.KeepAlive(held)
	}
	t.Logf("at most, with 10 and with 100 batches: writing %d, reading %d, all rows %d bytes",
		write, read, all)
	for what, peak := range map[string][2]int64{"writing": write, "reading": read} {
		if peak[1] > peak[0]*5/4+slack {
			t.Errorf("%s: %d bytes with 10 batches, %d with 100", what, peak[0], peak[1])
		}
	}
	if all[1] < all[0]*5/4+slack {
		t.Errorf("all rows: %d bytes with 10 batches, and only %d with 100", all[0], all[1])
	}
}

// BenchmarkTileCompaction reads the sink log before a compaction and makes the
// compact file of it. That grows with the number of parts: by the metrics, in
// bytes of the file, and of memory allocated on the way, for each part.
func BenchmarkTileCompaction(b *testing.B) {
	for _, parts := range []int64{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) {
			tile, err := NewTile(TileConfig{
				Store: diskStore{b.TempDir()}, Topic: topic, Prefix: tilePrefix,
				BaseURI: "s3a://lake",
			})
			if err != nil {
				b.Fatal(err)
			}
			var files []SinkFile
			for range parts {
				key := tile.key("part-00000-" + NewEventID() + "-c000.snappy.parquet")
				files = append(files, SinkFile{
					Path: tile.cfg.BaseURI + "/" + key, Size: 54_321, Action: "add",
					ModificationTime: 1_772_352_000_000, BlockReplication: 1,
					BlockSize: sparkBlockSize,
				})
			}
			before := parts - 1 // one part a batch
			name := tile.key(SinkLogDir + "/" + SinkLogName(before, CompactEvery))
			body := AppendSinkLog(nil, files...)
			if _, err := tile.create(b.Context(), name, body); err != nil {
				b.Fatal(err)
			}
			files = nil
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				files, err := tile.sinkState(b.Context(), parts)
				if err != nil || int64(len(files)) != parts {
					b.Fatal(len(files), err)
				}
				size = len(AppendSinkLog(nil, visible(files)...))
			}
			b.ReportMetric(float64(size)/float64(parts), "log-bytes/part")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(parts),
				"ns/part")
		})
	}
}
