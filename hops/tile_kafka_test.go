//go:build synctests

package hops

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// tile runs a tile on the world's broker for a minute.
func (w *world) tile(change func(*TileConfig)) error {
	w.t.Helper()
	cfg := TileConfig{
		Kafka: w.kafka, Store: w.store, Topic: topic, Prefix: tilePrefix, Alert: w.alert,
	}
	if change != nil {
		change(&cfg)
	}
	tile, err := NewTile(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return runTile(w.t.Context(), tile)
}

// tiled is how many events the tile has, through the sink log, and the ranges of
// its last batch.
func (w *world) tiled(batch string) (events int64, ranges []OffsetRange) {
	w.t.Helper()
	rows, err := ReadTile(w.t.Context(), w.store, tilePrefix)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, row := range rows {
		events += row.Events
	}
	plan, err := ParseBatchPlan(w.store.objects[tilePrefix+"/checkpoint/offsets/"+batch])
	if err != nil {
		w.t.Fatal(err)
	}
	return events, plan.Ranges
}

func TestTileReadsKafka(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		w.append(0, w.good(7)...)
		w.append(1, append(w.good(3), "not JSON")...)
		if err := w.tile(nil); err != nil {
			t.Fatal(err)
		}
		events, ranges := w.tiled("0")
		if diff := cmp.Diff([]OffsetRange{{0, 0, 7}, {1, 0, 4}}, ranges); diff != "" {
			t.Error(diff)
		}
		rows, err := ReadTile(t.Context(), w.store, tilePrefix)
		if events != 11 || err != nil {
			t.Errorf("%d events, %v: %v", events, err, rows)
		}
		w.append(1, w.good(5)...)
		if err := w.tile(func(cfg *TileConfig) { cfg.MaxOffsetsPerBatch = 2 }); err != nil {
			t.Fatal(err)
		}
		events, ranges = w.tiled("3")
		if diff := cmp.Diff([]OffsetRange{{0, 7, 7}, {1, 8, 9}}, ranges); diff != "" {
			t.Error(diff)
		}
		if events != 16 || len(w.alerts) > 0 {
			t.Errorf("%d events, %v", events, w.alerts)
		}
		if w.cluster.GroupInfo(group) != nil {
			t.Error("the tile has a group")
		}
	})
}

// The start of a log that retention has cut is no loss; a cut beyond what was
// read is, and an error.
func TestTileRetention(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(10)...)
		cut := func(to int64) {
			if err := w.cluster.DeleteRecords(topic, 0, to); err != nil {
				t.Fatal(err)
			}
		}
		cut(4)
		if err := w.tile(nil); err != nil {
			t.Fatal(err)
		}
		events, ranges := w.tiled("0")
		if diff := cmp.Diff([]OffsetRange{{0, 4, 10}}, ranges); diff != "" || events != 6 {
			t.Error(events, diff)
		}
		w.append(0, w.good(5)...)
		cut(12)
		want := RangeLostError{Topic: topic, Offset: 10, Start: 12, Batch: 1}
		var lost *RangeLostError
		if err := w.tile(nil); !errors.As(err, &lost) || *lost != want {
			t.Errorf("%v, want %v", err, &want)
		}
		if w.alerted(AlertStopped) != 1 {
			t.Error(w.alerts)
		}
	})
}

// A range that was planned and then removed is an error, at once and for good.
func TestTilePlannedRangeRemoved(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(10)...)
		ctx, cancel := context.WithCancel(t.Context())
		w.store.after = func(_, key string) error {
			if key == tilePrefix+"/checkpoint/offsets/0" {
				cancel()
			}
			return nil
		}
		tile, err := NewTile(TileConfig{
			Kafka: w.kafka, Store: w.store, Topic: topic, Prefix: tilePrefix,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := runTile(ctx, tile); err != nil {
			t.Fatal(err)
		}
		w.store.after = nil
		if err := w.cluster.DeleteRecords(topic, 0, 3); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			want := RangeLostError{Topic: topic, Offset: 0, Start: 3, Batch: 0, Planned: true}
			var lost *RangeLostError
			if err := w.tile(nil); !errors.As(err, &lost) || *lost != want {
				t.Errorf("%v, want %v", err, &want)
			}
		}
	})
}

// Whatever a broker answers, no offset is lost or counted twice.
func TestTileKafkaErrors(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.ListOffsets, kmsg.Fetch} {
		for _, scripted := range []*kerr.Error{
			kerr.NotLeaderForPartition, kerr.UnknownTopicOrPartition, kerr.OffsetOutOfRange,
		} {
			t.Run(key.Name()+" "+scripted.Message, func(t *testing.T) {
				inWorld(t, 2, func(t *testing.T, w *world) {
					w.append(0, w.good(7)...)
					w.append(1, w.good(2)...)
					var left atomic.Int32
					left.Store(3)
					refuse := func(r kmsg.Request) (kmsg.Response, error, bool) {
						w.cluster.KeepControl()
						if left.Add(-1) < 0 {
							return nil, nil, false
						}
						return refusal(r, scripted.Code), nil, true
					}
					w.cluster.ControlKey(key.Int16(), refuse)
					if err := w.tile(nil); err != nil {
						t.Fatal(err)
					}
					if events, _ := w.tiled("0"); events != 9 || left.Load() >= 0 {
						t.Errorf("%d events, want 9; %d errors left", events, left.Load())
					}
				})
			})
		}
	}
}

// refusal answers each partition of a request with an error.
func refusal(r kmsg.Request, code int16) kmsg.Response {
	switch request := r.(type) {
	case *kmsg.MetadataRequest:
		reply := request.ResponseKind().(*kmsg.MetadataResponse)
		for _, asked := range request.Topics {
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.TopicID, topic.ErrorCode = asked.Topic, asked.TopicID, code
			reply.Topics = append(reply.Topics, topic)
		}
		return reply
	case *kmsg.ListOffsetsRequest:
		reply := request.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, asked := range request.Topics {
			topic := kmsg.NewListOffsetsResponseTopic()
			topic.Topic = asked.Topic
			for _, p := range asked.Partitions {
				part := kmsg.NewListOffsetsResponseTopicPartition()
				part.Partition, part.ErrorCode = p.Partition, code
				topic.Partitions = append(topic.Partitions, part)
			}
			reply.Topics = append(reply.Topics, topic)
		}
		return reply
	case *kmsg.FetchRequest:
		reply := request.ResponseKind().(*kmsg.FetchResponse)
		for _, asked := range request.Topics {
			topic := kmsg.NewFetchResponseTopic()
			topic.Topic, topic.TopicID = asked.Topic, asked.TopicID
			for _, p := range asked.Partitions {
				part := kmsg.NewFetchResponseTopicPartition()
				part.Partition, part.ErrorCode = p.Partition, code
				topic.Partitions = append(topic.Partitions, part)
			}
			reply.Topics = append(reply.Topics, topic)
		}
		return reply
	}
	return nil
}

// Aborted records and the markers of transactions are offsets without a record:
// a range may end with them.
func TestTileTransactions(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(2)...)
		client := w.client(kgo.TransactionalID("x"), kgo.DefaultProduceTopic(topic))
		for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
			if err := client.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			for _, value := range w.good(3) {
				record := &kgo.Record{Key: []byte("ada"), Value: []byte(value)}
				if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			if err := client.EndTransaction(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if err := w.tile(nil); err != nil {
			t.Fatal(err)
		}
		events, ranges := w.tiled("0")
		if diff := cmp.Diff([]OffsetRange{{0, 0, 10}}, ranges); diff != "" || events != 5 {
			t.Error(events, diff)
		}
	})
}
