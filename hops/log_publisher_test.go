//go:build synctests

package hops

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestNewPublishersRefuse(t *testing.T) {
	s := new(session)
	for name, cfg := range map[string]LogPublisherConfig{
		"required": {Topic: "a"}, "negative": {Log: s, Topic: "a", Silence: -1},
		"more than": {Log: s, Topic: "a", Window: 10_001},
	} {
		if _, err := NewLogPublisher(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("log publisher, %s: %v", name, err)
		}
	}
	for name, cfg := range map[string]PollerConfig{
		"required": {Topic: "a"}, "negative": {Outbox: s, Topic: "a", Backoff: -1},
		"more than": {Outbox: s, Topic: "a", Batch: 10_001},
	} {
		if _, err := NewPoller(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("poller, %s: %v", name, err)
		}
	}
}

// A keepalive that comes while a change is in flight is ahead of what is published
// (Trendyol/go-pq-cdc#107): it is not confirmed, and the change survives a crash.
func TestLogPublisherKeepaliveInFlight(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		p := publishers[1]
		j := o.publish(p, func(j *job) {
			j.line.setFaults(func(k kmsg.Key, n int) fate {
				if k == kmsg.Produce {
					return freeze
				}
				return deliver
			})
		})
		wait(15)
		before := o.db.confirmed
		o.db.fill(1)
		wait(15) // a keepalive has come
		if before == "" || o.db.confirmed != before {
			t.Errorf("%q is confirmed, and was %q before the change", o.db.confirmed, before)
		}
		wait(40) // a keepalive, and more than the time for an answer
		o.db.mu.Lock()
		if len(o.db.froms) < 2 || o.db.confirmed != before {
			t.Errorf("streams from %q, confirmed %q", o.db.froms, o.db.confirmed)
		}
		o.db.mu.Unlock()
		j.kill()
		j.line.thaw()
		o.publish(p)
		wait(30)
		o.wants()
		o.drained(p)
	})
}

// Changes that were acknowledged behind one that was not are not confirmed.
func TestLogPublisherConfirmsPrefix(t *testing.T) {
	inOffice(t, 2, func(t *testing.T, o *office) {
		p := publishers[1]
		for i := range 8 {
			o.db.commit(fmt.Sprint("learner-", i), "go-101", OpEnrolled)
		}
		o.publish(p)
		wait(15)
		home := make(map[int32]string) // a learner of each partition
		for _, record := range o.topic() {
			home[record.Partition] = strings.TrimSuffix(string(record.Key), "/go-101")
		}
		before := o.db.confirmed
		fault := o.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{0},
			Err: kerr.NotLeaderForPartition, Count: -1,
		})
		o.db.commit(home[0], "go-101", OpDropped)
		for range 3 {
			o.db.commit(home[1], "go-101", OpDropped)
			wait(3)
		}
		if o.db.confirmed != before || len(home) != 2 || len(o.topic()) < 11 {
			t.Errorf("%q is confirmed, and was %q; %d records", o.db.confirmed, before,
				len(o.topic()))
		}
		fault.Remove()
		wait(60)
		o.wants()
		o.drained(p)
	})
}

// Without any change the slot still moves on with the server, or the log of other
// tables would fill the disk.
func TestLogPublisherIdle(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.publish(publishers[1])
		wait(25)
		if o.db.confirmed == "" {
			t.Error("nothing is confirmed")
		}
	})
}

// A slot that is lost ends the publisher, whenever it finds out. What was published
// is known, and nothing behind the gap is published.
func TestLogPublisherSlotLost(t *testing.T) {
	for name, after := range map[string]int{"at first": 0, "later": 5} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, 1, func(t *testing.T, o *office) {
				acked := ""
				o.db.lost = after == 0
				j := o.publish(publishers[1])
				if after > 0 {
					o.db.fill(after)
					wait(5)
					acked = o.db.changes[after-1].SourceLSN
					o.db.mu.Lock()
					o.db.lost = true
					o.db.mu.Unlock()
				}
				o.db.fill(3)
				wait(30)
				var lost *SlotLostError
				select {
				case err := <-j.ended:
					j.ended <- nil
					if !errors.As(err, &lost) || lost.Acked != acked {
						t.Errorf("ended with %v, want changes lost after %q", err, acked)
					}
					if !slotSays(err, slotLost.SlotLost) ||
						!strings.Contains(err.Error(), "snapshot") {
						t.Errorf("the error says neither what happened nor what to do: %v", err)
					}
				default:
					t.Error("goes on")
				}
				if o.alerted(AlertSlotGone) != 1 {
					t.Errorf("alerts: %v", o.alerts)
				}
				if n := len(o.topic()); n != after {
					t.Errorf("%d records, want %d", n, after)
				}
			})
		})
	}
}

// A server that crashes forgets confirmations: the slot goes back. The publisher of
// the same life knows better, and begins where it was.
func TestLogPublisherServerCrash(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.db.fill(4)
		j := o.publish(publishers[1])
		wait(15)
		o.db.mu.Lock()
		o.db.confirmed = ""
		j.session.end()
		o.db.mu.Unlock()
		o.db.fill(4)
		wait(30)
		o.wants()
		o.drained(publishers[1])
		if n := len(o.topic()); n != 8 {
			t.Errorf("%d records for 8 changes, streams from %q", n, o.db.froms)
		}
	})
}

// A publisher that lost the slot for a while to another one comes back, and does not
// confirm what it knew then: not every server refuses to go back.
func TestLogPublisherComesBack(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.db.fill(4)
		j := o.publish(publishers[1])
		wait(15)
		other := o.publish(publishers[1])
		o.db.mu.Lock()
		j.session.end()
		o.db.active = other.session
		o.db.mu.Unlock()
		wait(60) // the other one has it
		o.db.fill(4)
		wait(15)
		other.kill()
		wait(60)
		o.db.fill(4)
		wait(15)
		o.wants()
		o.drained(publishers[1])
		if n := len(o.topic()); n != 12 {
			t.Errorf("%d records for 12 changes, streams from %q", n, o.db.froms)
		}
	})
}
