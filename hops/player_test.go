//go:build synctests

package hops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (w *world) player(change func(*PlayerConfig)) *Player {
	w.t.Helper()
	cfg := PlayerConfig{Kafka: w.kafka, Topic: topic, Alert: w.alert}
	if change != nil {
		change(&cfg)
	}
	player, err := NewPlayer(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = player.Close(ctx)
	})
	return player
}

// ids returns the event ids in the topic's partition, in log order.
func (w *world) ids(partition int32) []string {
	w.t.Helper()
	var ids []string
	for _, record := range w.read(topic, partition) {
		var got Progress
		if err := json.Unmarshal(record.Value, &got); err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, got.EventID)
	}
	return ids
}

func TestPlayerSend(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		player := w.player(nil)
		receipt, err := player.Send(t.Context(), event("e0"))
		if err != nil {
			t.Fatal(err)
		}
		if want := (Receipt{EventID: "e0"}); receipt != want {
			t.Errorf("receipt %v, want %v", receipt, want)
		}
		// A second send of the same event is a second copy, and says so.
		if receipt, err = player.Send(t.Context(), event("e0")); err != nil || receipt.Offset != 1 {
			t.Errorf("receipt %v, error %v", receipt, err)
		}
		minted, err := player.Send(t.Context(), event(""))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"e0", "e0", minted.EventID}
		if diff := cmp.Diff(want, w.ids(0)); diff != "" || minted.EventID == "" {
			t.Error(diff)
		}
		for _, record := range w.read(topic, 0) {
			if err := Classify(record.Key, record.Value); err != nil {
				t.Error(err)
			}
		}
		if err := player.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := player.Close(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		var failed *SendError
		_, err = player.Send(t.Context(), event("e9"))
		if !errors.As(err, &failed) || failed.Outcome != NotDone || !errors.Is(err, ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
	})
}

// Errors that the client does not retry are retried by the player, with the
// event id of the first attempt.
func TestPlayerResendsSameID(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		var ids []string
		w.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (
			kmsg.Response, error, bool,
		) {
			w.cluster.KeepControl()
			produce := req.(*kmsg.ProduceRequest)
			ids = append(ids, idIn(produce))
			if len(ids) > 3 {
				return nil, nil, false
			}
			return produceAnswer(produce, kerr.UnknownServerError.Code, -1), nil, true
		})
		receipt, err := w.player(nil).Send(t.Context(), event(""))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Repeat([]string{receipt.EventID}, 4)
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Error(diff)
		}
		if got := w.ids(0); len(got) != 1 {
			t.Errorf("log holds %v, want one event", got)
		}
	})
}

// An acknowledgement without an offset (DUPLICATE_SEQUENCE_NUMBER) proves
// nothing, so the event is sent again.
func TestPlayerAckWithoutOffset(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (
			kmsg.Response, error, bool,
		) {
			code := kerr.DuplicateSequenceNumber.Code
			return produceAnswer(req.(*kmsg.ProduceRequest), code, -1), nil, true
		})
		receipt, err := w.player(nil).Send(t.Context(), event("e0"))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.read(topic, 0); len(got) <= int(receipt.Offset) || receipt.Offset < 0 {
			t.Errorf("acked at %d, log holds %d", receipt.Offset, len(got))
		}
	})
}

// An append whose reply says timed out is one copy, and a Send whose context
// ended meanwhile leaves the next one intact (franz-go#1217).
func TestPlayerAppliedThenTimedOut(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		fault := w.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: kerr.RequestTimedOut, Count: -1,
		})
		player := w.player(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var failed *SendError
		_, err := player.Send(ctx, event("e0"))
		if !errors.As(err, &failed) || failed.Outcome != Unknown {
			t.Errorf("Send: %v, want unknown", err)
		}
		fault.Remove()
		receipt, err := player.Send(t.Context(), event("e1"))
		if err != nil {
			t.Fatal(err)
		}
		if err := player.Close(t.Context()); err != nil {
			t.Error(err)
		}
		ids := w.ids(0)
		if diff := cmp.Diff([]string{"e0", "e1"}, ids); diff != "" {
			t.Error(diff)
		}
		if ids[receipt.Offset] != "e1" {
			t.Errorf("acked at %d in %v", receipt.Offset, ids)
		}
	})
}

func TestPlayerOutcomes(t *testing.T) {
	big := event("big")
	big.LessonID = strings.Repeat("x", 2<<20)
	for _, test := range []struct {
		name  string
		event Progress
		topic string
		fault *kerr.Error
		want  Outcome
		took  time.Duration
	}{
		{"too large", big, topic, nil, NotDone, time.Second},
		{"refused as too large", event("e"), topic, kerr.MessageTooLarge, NotDone, time.Second},
		{"forbidden", event("e"), topic, kerr.TopicAuthorizationFailed, Unknown, time.Second},
		// The last attempt waits for the topic, and is sent if it appears.
		{"no such topic", event("e"), "nowhere", nil, Unknown, 31 * time.Second},
		{"broken", event("e"), topic, kerr.UnknownServerError, Unknown, 31 * time.Second},
		{"leaderless", event("e"), topic, kerr.NotLeaderForPartition, Unknown, 31 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, 1, func(t *testing.T, w *world) {
				if test.fault != nil {
					w.cluster.Fault(kfake.Fault{
						Keys: []kmsg.Key{kmsg.Produce}, Err: test.fault, Count: -1,
					})
				}
				player := w.player(func(cfg *PlayerConfig) {
					cfg.Topic, cfg.GiveUp = test.topic, 30*time.Second
				})
				began := time.Now()
				_, err := player.Send(t.Context(), test.event)
				var failed *SendError
				if !errors.As(err, &failed) || failed.Outcome != test.want {
					t.Errorf("outcome is %v, want %s", err, test.want)
				}
				if took := time.Since(began); took > test.took {
					t.Errorf("took %v", took)
				}
				if w.alerted(AlertUnresolved) != 1 {
					t.Errorf("alerts: %v", w.alerts)
				}
			})
		})
	}
}

// Close names what it could not resolve, and ends the Sends that wait for it.
func TestPlayerCloseReportsUnresolved(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		kafka := append(slices.Clone(w.kafka), kgo.Dialer(func(
			ctx context.Context, network, host string,
		) (net.Conn, error) {
			return nil, errors.New("no route")
		}))
		player := w.player(func(cfg *PlayerConfig) { cfg.Kafka = kafka })
		results := make(chan error, 3)
		for i := range 3 {
			player.Submit(event(fmt.Sprintf("e%d", i)), func(_ Receipt, err error) {
				results <- err
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var unresolved *UnresolvedError
		if err := player.Close(ctx); !errors.As(err, &unresolved) {
			t.Fatalf("Close: %v", err)
		}
		if diff := cmp.Diff([]string{"e0", "e1", "e2"}, unresolved.EventIDs); diff != "" {
			t.Error(diff)
		}
		for range 3 {
			if err := <-results; !errors.Is(err, ErrClosed) {
				t.Errorf("Send ended with %v", err)
			}
		}
	})
}

// Concurrent sends are resolved by Close, each at an offset of its own.
func TestPlayerConcurrentThenClose(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.UnknownServerError, Count: 2,
		})
		player := w.player(nil)
		var mu sync.Mutex
		offsets := make(map[int64]string)
		for i := range 50 {
			player.Submit(event(fmt.Sprintf("e%d", i)), func(r Receipt, err error) {
				mu.Lock()
				defer mu.Unlock()
				if other, taken := offsets[r.Offset]; err != nil || taken {
					t.Errorf("%v, %v, offset of %q", r, err, other)
				}
				offsets[r.Offset] = r.EventID
			})
		}
		if err := player.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		ids := w.ids(0)
		for offset, id := range offsets {
			if ids[offset] != id {
				t.Errorf("%s was acked at %d, where the log holds %s", id, offset, ids[offset])
			}
		}
		if len(offsets) != 50 {
			t.Errorf("%d acks, want 50", len(offsets))
		}
	})
}

// idIn returns the event id of a produce request's only record.
func idIn(req *kmsg.ProduceRequest) string {
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(req.Topics[0].Partitions[0].Records); err != nil {
		return err.Error()
	}
	records, err := kfake.BatchRecords(batch)
	if err != nil {
		return err.Error()
	}
	var got Progress
	if err := json.Unmarshal(records[0].Value, &got); err != nil {
		return err.Error()
	}
	return got.EventID
}

func produceAnswer(req *kmsg.ProduceRequest, code int16, offset int64) *kmsg.ProduceResponse {
	reply := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range req.Topics {
		answered := kmsg.NewProduceResponseTopic()
		answered.Topic, answered.TopicID = topic.Topic, topic.TopicID
		for _, partition := range topic.Partitions {
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode, part.BaseOffset = partition.Partition, code, offset
			answered.Partitions = append(answered.Partitions, part)
		}
		reply.Topics = append(reply.Topics, answered)
	}
	return reply
}
