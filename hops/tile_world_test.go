//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

const tilePrefix = "tiles/progress"

// memoryLog is a topic in memory, one slice per partition. First is where the
// log of each partition begins.
type memoryLog struct {
	mu      sync.Mutex
	records [][]*kgo.Record
	first   []int64
}

func newMemoryLog(partitions int) *memoryLog {
	return &memoryLog{
		records: make([][]*kgo.Record, partitions), first: make([]int64, partitions),
	}
}

// fill appends n events to each partition: every third is a resend, every
// seventh is refused by the contract.
func (l *memoryLog) fill(t testing.TB, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for partition := range l.records {
		for range n {
			offset := len(l.records[partition])
			e := event(fmt.Sprintf("p%d-e%d", partition, offset-offset%3/2))
			e.CourseID = fmt.Sprintf("course-%d", offset%4)
			e.OccurredAt = e.OccurredAt.Add(time.Duration(offset) * time.Minute)
			value := mustValue(t, e)
			if offset%7 == 3 {
				value = []byte("not JSON")
			}
			l.records[partition] = append(l.records[partition], &kgo.Record{
				Offset: int64(offset), Key: e.Key(), Value: value,
				Timestamp: e.OccurredAt.Add(time.Second),
			})
		}
	}
}

// source is the log as one tile sees it.
func (l *memoryLog) source() tileSource { return memorySource{l} }

type memorySource struct{ log *memoryLog }

func (s memorySource) bounds(context.Context) ([]logBounds, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var bounds []logBounds
	for partition, records := range s.log.records {
		bounds = append(bounds,
			logBounds{int32(partition), s.log.first[partition], int64(len(records))})
	}
	return bounds, nil
}

func (s memorySource) read(
	_ context.Context, partition int32, offset int64,
) ([]*kgo.Record, int64, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if first := s.log.first[partition]; offset < first {
		return nil, offset, errTrimmed{first}
	}
	records := s.log.records[partition][offset:]
	records = records[:min(len(records), 5)]
	return records, offset + int64(len(records)), nil
}

func (s memorySource) close() {}

// expected is what a tile of the whole log must add up to: events per window and
// course.
func (l *memoryLog) expected(window time.Duration) map[cellKey]int64 {
	counts := newTally(window)
	for _, records := range l.records {
		for _, record := range records {
			counts.add(record)
		}
	}
	return sums(counts.rows())
}

func sums(rows []TileRow) map[cellKey]int64 {
	sums := make(map[cellKey]int64)
	for _, row := range rows {
		sums[cellKey{row.WindowStart, row.CourseID}] += row.Events
	}
	return sums
}

// newMemoryStore returns an empty store without faults.
func newMemoryStore() *memoryStore {
	return &memoryStore{objects: make(map[string][]byte), etags: make(map[string]int)}
}

// tileOf returns a tile over memory with batches of at most most offsets.
func tileOf(t testing.TB, store ObjectStore, log *memoryLog, most int) *Tile {
	t.Helper()
	tile, err := NewTile(TileConfig{
		Store: store, Topic: topic, Prefix: tilePrefix, MaxOffsetsPerBatch: most,
		MaxRowsPerPart: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	tile.source = log.source()
	return tile
}

// runTile runs a tile until it has had time for all there is.
func runTile(ctx context.Context, tile *Tile) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return tile.Run(ctx)
}

// checkTile says what is wrong with a tile that has read the whole log, in batches
// of at most most offsets.
func checkTile(store *memoryStore, log *memoryLog, most int) error {
	store.before, store.after = nil, nil
	ctx := context.Background()
	rows, err := ReadTile(ctx, store, tilePrefix)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(log.expected(5*time.Minute), sums(rows)); diff != "" {
		return fmt.Errorf("events per window and course:\n%s", diff)
	}
	names, err := listNames(ctx, store, tilePrefix+"/"+checkpointOffsets)
	if err != nil {
		return err
	}
	ends := make(map[int32]int64)
	for batch := range names {
		body := store.objects[fmt.Sprintf("%s/%s%d", tilePrefix, checkpointOffsets, batch)]
		plan, err := ParseBatchPlan(body)
		if err != nil {
			return fmt.Errorf("batch %d: %w", batch, err)
		}
		planned := int64(0)
		for _, r := range plan.Ranges {
			planned += r.End - r.Start
			if r.Start != ends[r.Partition] {
				return fmt.Errorf("batch %d: %v does not begin at %d", batch, r, ends[r.Partition])
			}
			ends[r.Partition] = r.End
		}
		if planned == 0 || planned > int64(most) {
			return fmt.Errorf("batch %d has %d offsets, of at most %d", batch, planned, most)
		}
	}
	for partition, records := range log.records {
		if ends[int32(partition)] != int64(len(records)) {
			return fmt.Errorf("partition %d is planned to %d", partition, ends[int32(partition)])
		}
	}
	commits, err := listNames(ctx, store, tilePrefix+"/"+checkpointCommits)
	if err == nil && len(commits) != len(names) {
		err = fmt.Errorf("%d batches are planned and %d committed", len(names), len(commits))
	}
	return err
}

// errFault is what a scripted call answers.
var errFault = errors.New("scripted")

// strike breaks the store's nth call from now, counted from 0. It returns how
// many calls there were, and a context that ends with the process.
type strike struct {
	at   int
	what string // "refused", "lost", "killed before", "killed after"
}

var strikes = []string{"refused", "lost", "killed before", "killed after"}

// arm scripts the strike into the store, for a process that ends by kill.
func (s strike) arm(store *memoryStore, kill context.CancelFunc) {
	n, dead := 0, false
	var mu sync.Mutex
	store.before = func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return errFault
		}
		n++
		switch {
		case n-1 != s.at:
			return nil
		case s.what == "killed before":
			dead = true
			kill()
			return errFault
		case s.what == "refused":
			return errFault
		}
		return nil
	}
	store.after = func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case n-1 != s.at || dead:
			return nil
		case s.what == "killed after":
			dead = true
			kill()
			return errFault
		case s.what == "lost":
			return errFault
		}
		return nil
	}
}

// shapeOf lists the sink log's names and how many parts there are.
func shapeOf(store *memoryStore) (log []string, parts int) {
	for _, key := range slices.Sorted(maps.Keys(store.objects)) {
		if name, ok := strings.CutPrefix(key, tilePrefix+"/"+SinkLogDir+"/"); ok {
			log = append(log, name)
		}
		if strings.HasPrefix(key, tilePrefix+"/part-") {
			parts++
		}
	}
	return log, parts
}
