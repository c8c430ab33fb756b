package mutants

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// tileLog is the topic as a tile job reads it: what was polled and is in no batch yet.
type tileLog struct {
	*kgo.Client
	held map[int32][]*kgo.Record
	// next is where the next batch begins, reached the offset after the last one that
	// was polled.
	next, reached map[int32]int64
	topicID       [16]byte
}

// openTileLog reads from where the checkpoint stands: the start of a batch that is open,
// the end of one that is not.
func openTileLog(ctx context.Context, l *tileLife) (*tileLog, error) {
	at := make(map[int32]int64)
	for _, r := range l.plan.Ranges {
		at[r.Partition] = r.End
		if l.open {
			at[r.Partition] = r.Start
		}
	}
	return openTileLogAt(ctx, l, func(context.Context, *kgo.Client) (map[int32]int64, error) {
		return at, nil
	})
}

// openTileLogAt reads from where cursor says. A partition of which it says nothing is
// in no batch yet, and begins at 0.
func openTileLogAt(
	ctx context.Context, l *tileLife,
	cursor func(context.Context, *kgo.Client) (map[int32]int64, error),
) (*tileLog, error) {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), // records that are gone are an error
	}, l.Kafka...)...)
	if err != nil {
		return nil, err
	}
	log := &tileLog{Client: client, held: make(map[int32][]*kgo.Record)}
	partitions, err := log.look(ctx)
	if err == nil {
		log.next, err = cursor(ctx, client)
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	from := make(map[int32]kgo.Offset)
	for _, p := range partitions {
		log.next[p] += 0 // known from now on
		from[p] = kgo.NewOffset().At(log.next[p])
	}
	log.reached = maps.Clone(log.next)
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{worlds.Progress: from})
	return log, nil
}

// look asks for the topic, and returns its partitions.
func (log *tileLog) look(ctx context.Context) ([]int32, error) {
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(worlds.Progress)
	request.Topics = append(request.Topics, asked)
	reply, err := request.RequestWith(ctx, log.Client)
	if err != nil {
		return nil, err
	}
	var partitions []int32
	for _, topic := range reply.Topics {
		if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
			return nil, err
		}
		log.topicID = topic.TopicID
		for _, p := range topic.Partitions {
			partitions = append(partitions, p.Partition)
		}
	}
	return partitions, nil
}

// poll waits for records.
func (log *tileLog) poll(ctx context.Context) error {
	fetches := log.PollRecords(ctx, maxPoll)
	if err := fetches.Err(); err != nil {
		return err
	}
	for _, batch := range batches(fetches) {
		for _, r := range batch {
			log.held[r.Partition] = append(log.held[r.Partition], r)
			log.reached[r.Partition] = r.Offset + 1
		}
	}
	return nil
}

// reach polls until all of the ranges was polled.
func (log *tileLog) reach(ctx context.Context, ranges []hops.OffsetRange) error {
	for _, r := range ranges {
		for r.Start < r.End && log.reached[r.Partition] < r.End {
			if err := log.poll(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileMost bounds a batch, in offsets: a run has more batches than a compaction takes.
const tileMost = 4

// ranges returns what is held as ranges of all partitions, as much as a batch takes,
// and whether there is anything.
func (log *tileLog) ranges() (ranges []hops.OffsetRange, more bool) {
	left := int64(tileMost)
	for _, p := range slices.Sorted(maps.Keys(log.next)) {
		r := hops.OffsetRange{Partition: p, Start: log.next[p]}
		r.End = min(log.reached[p], r.Start+left)
		left -= r.End - r.Start
		ranges, more = append(ranges, r), more || r.Start < r.End
	}
	return ranges, more
}

// take takes the records of the ranges, without the markers.
func (log *tileLog) take(ranges []hops.OffsetRange) []*kgo.Record {
	var taken []*kgo.Record
	for _, r := range ranges {
		held := log.held[r.Partition]
		for len(held) > 0 && held[0].Offset < r.End {
			if held[0].Offset >= r.Start && !held[0].Attrs.IsControl() {
				taken = append(taken, held[0])
			}
			held = held[1:]
		}
		log.held[r.Partition], log.next[r.Partition] = held, r.End
	}
	return taken
}

// tileCell is a row's window, by its start in milliseconds since the Unix epoch, and
// course.
type tileCell struct {
	start  int64
	course string
}

// tileRows counts records per window and course. One that the contract refuses has no
// course, and its own time.
func tileRows(records []*kgo.Record) []hops.TileRow {
	events := make(map[tileCell]int64)
	ids := make(map[tileCell]map[string]bool)
	for _, r := range records {
		var event struct {
			ID         string    `json:"event_id"`
			Course     string    `json:"course_id"`
			OccurredAt time.Time `json:"occurred_at"`
		}
		if hops.Classify(r.Key, r.Value) != nil || json.Unmarshal(r.Value, &event) != nil {
			event.ID, event.Course, event.OccurredAt = "", "", r.Timestamp
		}
		cell := tileCell{event.OccurredAt.Truncate(worlds.TileWindow).UnixMilli(), event.Course}
		if events[cell]++; ids[cell] == nil {
			ids[cell] = make(map[string]bool)
		}
		if event.Course != "" {
			ids[cell][event.ID] = true
		}
	}
	rows := make([]hops.TileRow, 0, len(events))
	for cell, n := range events {
		rows = append(rows, hops.TileRow{
			WindowStart: cell.start, WindowEnd: cell.start + worlds.TileWindow.Milliseconds(),
			CourseID: cell.course, Events: n, DistinctEventIDs: int64(len(ids[cell])),
		})
	}
	slices.SortFunc(rows, func(a, b hops.TileRow) int {
		return cmp.Or(cmp.Compare(a.WindowStart, b.WindowStart),
			cmp.Compare(a.CourseID, b.CourseID))
	})
	return rows
}
