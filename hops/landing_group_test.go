//go:build synctests

package hops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The commit stays below a reject that cannot be dead-lettered.
func TestLandingDLQKeepsFailing(t *testing.T) {
	for _, change := range []func(*LandingConfig){records, blocks(2, time.Second)} {
		inWorld(t, 2, func(t *testing.T, w *world) {
			fault := w.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{kmsg.Produce}, Topic: dlq,
				Err: kerr.TopicAuthorizationFailed, Count: -1,
			})
			values := w.good(5)
			values[2] = "not JSON"
			w.append(0, values...)
			w.append(1, w.good(2)...)
			stop := w.land(change)
			time.Sleep(20 * time.Second)
			if got := []int64{w.committed(0), w.committed(1)}; got[0] != 2 || got[1] != 2 {
				t.Errorf("committed %v, want [2 2]", got)
			}
			if w.alerted(AlertDLQFailed) == 0 {
				t.Errorf("alerts: %v", w.alerts)
			}
			fault.Remove()
			time.Sleep(time.Minute)
			if got := w.committed(0); got != 5 {
				t.Errorf("committed %d after the DLQ healed, want 5", got)
			}
			if n := len(w.read(dlq, 0)) + len(w.read(dlq, 1)); n != 1 {
				t.Errorf("%d dead letters, want 1", n)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A dead-letter produce without an answer is waited for, not made again.
func TestLandingDLQSlow(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		fault := w.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: dlq, Err: kerr.NotLeaderForPartition, Count: -1,
		})
		w.append(0, "not JSON")
		w.land(func(cfg *LandingConfig) { cfg.CallTimeout = time.Second })
		time.Sleep(30 * time.Second)
		if got := w.committed(0); got != -1 {
			t.Errorf("committed %d, want nothing", got)
		}
		fault.Remove()
		time.Sleep(time.Minute)
		if got := w.committed(0); got != 1 {
			t.Errorf("committed %d, want 1", got)
		}
		if n := len(w.read(dlq, 0)); n != 1 {
			t.Errorf("%d dead letters, want 1", n)
		}
	})
}

// Whatever a commit is answered, it is made again until the group has it.
func TestLandingCommitErrors(t *testing.T) {
	for _, change := range []func(*LandingConfig){records, classic(records)} {
		for _, answer := range []*kerr.Error{
			kerr.RequestTimedOut, kerr.UnknownServerError, kerr.CoordinatorNotAvailable,
			kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.StaleMemberEpoch,
			kerr.RebalanceInProgress,
		} {
			t.Run(answer.Message, func(t *testing.T) {
				inWorld(t, 1, func(t *testing.T, w *world) {
					w.cluster.Fault(kfake.Fault{
						Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: answer, Count: 2,
					})
					w.append(0, w.good(3)...)
					stop := w.land(change)
					time.Sleep(2 * time.Minute)
					if got := w.committed(0); got != 3 {
						t.Errorf("committed %d, want 3", got)
					}
					if err := stop(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// Members come and go; at the end every offset is in one object.
func TestLandingRebalance(t *testing.T) {
	for name, change := range map[string]func(*LandingConfig){
		"record": records, "record, classic": classic(records),
		"block": blocks(3, 2*time.Second), "block, classic": classic(blocks(3, 2*time.Second)),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(t *testing.T, w *world) {
				w.store.before = func(op, _ string) error {
					time.Sleep(200 * time.Millisecond) // slow enough for rebalances to wait
					return nil
				}
				first := w.land(change)
				second := w.land(change)
				for round := range 4 {
					for partition := range int32(3) {
						w.append(partition, w.good(5)...)
					}
					switch round {
					case 1:
						if err := first(); err != nil {
							t.Error(err)
						}
					case 2:
						w.land(change)
					}
					time.Sleep(7 * time.Second)
				}
				time.Sleep(time.Minute)
				if err := second(); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
				for partition := range int32(3) {
					if got := w.committed(partition); got != 20 {
						t.Errorf("partition %d: committed %d, want 20", partition, got)
					}
					var offsets []string
					for _, shape := range w.store.shape(t, partition) {
						offsets = append(offsets, strings.Fields(shape)[1:]...)
					}
					var want []string
					for offset := range 20 {
						want = append(want, fmt.Sprint(offset))
					}
					if diff := cmp.Diff(want, offsets); diff != "" {
						t.Error(diff)
					}
				}
				if w.alerted(AlertDamage) > 0 {
					t.Error(w.alerts)
				}
			})
		})
	}
}

// A stop in the middle commits what is resolved, and nothing else.
func TestLandingGracefulStop(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		puts := 0
		w.store.before = func(string, string) error {
			time.Sleep(time.Second)
			puts++
			if puts == 3 {
				return errors.New("not now")
			}
			return nil
		}
		w.append(0, w.good(10)...)
		began := time.Now()
		stop := w.land(records)
		time.Sleep(3500 * time.Millisecond)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("stopping took %v", took)
		}
		stored := int64(len(w.store.shape(t, 0)))
		if got := w.committed(0); got > stored || got < 2 {
			t.Errorf("committed %d with %d objects", got, stored)
		}
		if info := w.cluster.GroupInfo(group); info != nil && len(info.Members) > 0 {
			t.Errorf("still in the group: %v", info.Members)
		}
	})
}

// A zombie that wakes up with an old view of a block cannot shorten it.
func TestLandingZombieBlock(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(6)...)
		log := w.read(topic, 0)
		zombie := func(upto int) (*Landing, *partition) {
			l, err := NewLanding(LandingConfig{
				Store: w.store, Topic: topic, DLQ: dlq, Group: group, Naming: Block, BlockSize: 6,
			})
			if err != nil {
				t.Fatal(err)
			}
			p := &partition{id: 0, next: int64(upto)}
			for _, record := range log[:upto] {
				p.queue = append(p.queue, &item{record: record})
			}
			return l, p
		}
		one, held := zombie(2)
		if err := one.storeBlock(t.Context(), held, 2); err != nil {
			t.Fatal(err)
		}
		two, fresh := zombie(4) // never saw the object
		if err := two.storeBlock(t.Context(), fresh, 4); err != nil {
			t.Fatal(err)
		}
		three, late := zombie(3)
		late.held = held.held // knows an etag that is gone
		if err := three.storeBlock(t.Context(), late, 3); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0: 0 1 2 3"}, w.store.shape(t, 0)); diff != "" {
			t.Error(diff)
		}
		calls := slices.Clone(w.store.calls)
		if err := three.storeBlock(t.Context(), late, 3); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(calls, w.store.calls); diff != "" {
			t.Errorf("a block that is stored was written again: %s", diff)
		}
	})
}

// The verdict that is stored wins over a classifier that changed its mind.
func TestLandingStoredVerdict(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		values := w.good(3)
		values[0] = "not JSON"
		w.append(0, values...)
		log := w.read(topic, 0)
		w.store.set(ObjectKey(topic, 0, 0), AppendBody(nil,
			(&item{record: log[0]}).line(), Line{Offset: 1, Reject: "of-old"}))
		if err := w.landAndStop(blocks(3, 0)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0: 0 1=of-old 2"}, w.store.shape(t, 0)); diff != "" {
			t.Error(diff)
		}
		letters := w.read(dlq, 0)
		if len(letters) != 1 || string(letters[0].Headers[4].Value) != "of-old" {
			t.Errorf("dead letters: %v", letters)
		}
	})
}

// A topic that may not be read is an alert now and then, not a busy loop.
func TestLandingFetchRefused(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		fault := w.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1,
		})
		w.append(0, w.good(2)...)
		w.land(records)
		time.Sleep(time.Minute)
		fault.Remove()
		if n := w.alerted(AlertFetchFailed); n == 0 || n > 600 {
			t.Errorf("%d alerts in a minute", n)
		}
		time.Sleep(time.Minute)
		if got := w.committed(0); got != 2 {
			t.Errorf("committed %d, want 2", got)
		}
	})
}

// A log that starts anew under a name that was landed in blocks is damage.
func TestLandingTopicCreatedAnew(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(3)...)
		if err := w.landAndStop(blocks(2, time.Second)); err != nil {
			t.Fatal(err)
		}
		before := fmt.Sprint(w.store.objects)
		if err := w.cluster.DeleteTopic(topic); err != nil {
			t.Fatal(err)
		}
		if err := w.cluster.CreateTopic(topic, 1, nil); err != nil {
			t.Fatal(err)
		}
		w.append(0, w.good(2)...)
		var damage *DamageError
		if err := w.landAndStop(blocks(2, time.Second)); !errors.As(err, &damage) {
			t.Errorf("Run returned %v, want a DamageError", err)
		}
		if fmt.Sprint(w.store.objects) != before {
			t.Error("the store was changed")
		}
	})
}
