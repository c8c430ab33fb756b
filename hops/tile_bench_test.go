//go:build synctests

package hops

import (
	"context"
	"fmt"
	"runtime"
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

// BenchmarkTile writes and reads back a tile of a million events in ten batches,
// making the events included.
func BenchmarkTile(b *testing.B) {
	const events, batches = 1_000_000, 10
	for b.Loop() {
		store := newMemoryStore()
		tile, err := NewTile(TileConfig{
			Store: store, Topic: topic, Prefix: tilePrefix, MaxOffsetsPerBatch: events / batches,
		})
		if err != nil {
			b.Fatal(err)
		}
		tile.source = endlessLog{events / 4}
		ctx, cancel := context.WithCancel(b.Context())
		last := fmt.Sprintf("/%s%d", checkpointCommits, batches-1)
		store.after = func(op, key string) error {
			if op == "putif" && strings.HasSuffix(key, last) {
				cancel()
			}
			return nil
		}
		began := time.Now()
		if err := tile.Run(ctx); err != nil {
			b.Fatal(err)
		}
		wrote := time.Since(began)
		rows, err := ReadTile(b.Context(), store, tilePrefix)
		if err != nil {
			b.Fatal(err)
		}
		read := time.Since(began) - wrote
		sum, bytes := int64(0), 0
		for _, row := range rows {
			sum += row.Events
		}
		for key, body := range store.objects {
			if strings.Contains(key, "/part-") {
				bytes += len(body)
			}
		}
		if sum != events {
			b.Fatalf("%d events in the tile, want %d", sum, events)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(events)/wrote.Seconds(), "events/s")
		b.ReportMetric(float64(len(rows))/read.Seconds(), "rows-read/s")
		b.ReportMetric(float64(bytes)/float64(len(rows)), "bytes/row")
		b.ReportMetric(float64(memory.HeapSys>>20), "heap-MiB")
	}
}
