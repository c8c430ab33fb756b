//go:build synctests

package hops

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// eachPublisher runs a test with the poller and with the log publisher.
func eachPublisher(t *testing.T, test func(*testing.T, publisher)) {
	for _, p := range publishers {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// relay runs life after life until everything is published, and checks it.
func (o *office) relay(p publisher, first *job) {
	o.t.Helper()
	o.db.fill(9)
	wait(8)
	o.db.fill(4)
	wait(70)
	if first.session.dead {
		o.publish(p)
		wait(20)
		o.db.fill(3)
		wait(20)
	}
	o.db.mu.Lock()
	o.db.fates = nil
	o.db.mu.Unlock()
	wait(60)
	o.wants()
	o.drained(p)
}

// At every call of the database in turn, it refuses, or does not answer, its connection
// breaks before or after it has done what it was asked, or the process dies before or
// after.
func TestPublishersAtEveryCall(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		for fate := dbRefuses; fate <= dbHangs; fate++ {
			for nth, reached := 1, true; reached && nth < 30; nth++ {
				t.Run(fmt.Sprintf("fate %d at call %d", fate, nth), func(t *testing.T) {
					inOffice(t, 2, func(t *testing.T, o *office) {
						reached = false
						o.db.fates = func(n int, _ string) dbFate {
							if n != nth {
								return dbAnswers
							}
							reached = true
							return fate
						}
						o.relay(p, o.publish(p))
					})
				})
			}
		}
	})
}

// Replies of Kafka are lost, or the process dies as it asks.
func TestPublishersLoseKafka(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		for _, key := range []kmsg.Key{kmsg.InitProducerID, kmsg.Produce} {
			for _, fault := range []fate{loseReply, crash} {
				for nth := 1; nth <= 4; nth++ {
					t.Run(fmt.Sprintf("%s %d %d", key.Name(), fault, nth), func(t *testing.T) {
						inOffice(t, 2, func(t *testing.T, o *office) {
							o.relay(p, o.publish(p, func(j *job) {
								j.line.setFaults(func(k kmsg.Key, n int) fate {
									if k != key || n != nth {
										return deliver
									}
									if fault == crash {
										go j.kill()
									}
									return fault
								})
							}))
						})
					})
				}
			}
		}
	})
}

// Whatever an append is answered, and for however long, nothing is lost, and the
// order of a key is kept.
func TestPublishersAnswers(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		for _, answer := range []*kerr.Error{
			kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend,
			kerr.MessageTooLarge, kerr.InvalidRecord, kerr.TopicAuthorizationFailed,
			kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch,
			kerr.ProducerFenced, kerr.UnknownServerError,
		} {
			for _, count := range []int{1, 3, 12} {
				t.Run(fmt.Sprintf("%s %d", answer.Message, count), func(t *testing.T) {
					inOffice(t, 1, func(t *testing.T, o *office) {
						o.cluster.Fault(kfake.Fault{
							Keys: []kmsg.Key{kmsg.Produce}, Err: answer, Count: count,
						})
						o.db.fill(5)
						o.publish(p)
						o.relay(p, o.publish(p)) // with a second one beside it
					})
				})
			}
		}
	})
}

// What nobody acknowledges is given back and asked for again, and what is refused
// for good is told of and never passed over.
func TestPublishersRefused(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			fault := o.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.MessageTooLarge, Count: -1,
			})
			o.db.fill(6)
			j := o.publish(p)
			wait(100)
			if n := o.alerted(AlertPublishFailed); n < 1 || n > 5 {
				t.Errorf("%d alerts in 100 s: %v", n, o.alerts)
			}
			if o.db.marked > 0 || o.db.confirmed != "" {
				t.Errorf("%d marked, %q confirmed", o.db.marked, o.db.confirmed)
			}
			fault.Remove()
			wait(60)
			o.wants()
			o.drained(p)
			if err := j.stop(); err != nil {
				t.Error(err)
			}
		})
	})
}

// A broker that does not answer for a while holds nothing up for good.
func TestPublishersUnanswered(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.db.fill(6)
			j := o.publish(p, func(j *job) {
				j.line.setFaults(func(k kmsg.Key, n int) fate {
					if k == kmsg.Produce && n == 1 {
						return freeze
					}
					return deliver
				})
			})
			wait(75) // two waits for an answer
			if o.db.marked > 0 || o.db.confirmed != "" {
				t.Errorf("%d marked, %q confirmed", o.db.marked, o.db.confirmed)
			}
			o.db.mu.Lock()
			if !slices.Contains(o.db.calls, "release") && len(o.db.froms) < 2 {
				t.Errorf("nothing was given back: %v", o.db.calls)
			}
			o.db.mu.Unlock()
			j.line.thaw()
			wait(120)
			o.wants()
			o.drained(p)
		})
	})
}

// A graceful stop finishes what is in hand, with a broker that takes its time: the
// next life publishes nothing twice.
func TestPublishersStop(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 2, func(t *testing.T, o *office) {
			o.db.fill(5)
			j := o.publish(p)
			wait(15)
			j.line.setFaults(func(k kmsg.Key, n int) fate {
				if k == kmsg.Produce {
					return freeze
				}
				return deliver
			})
			o.db.fill(1)
			wait(2)
			go func() {
				wait(2)
				j.line.thaw()
			}()
			if err := j.stop(); err != nil {
				t.Error(err)
			}
			j.kill()
			o.db.fill(2)
			o.publish(p)
			wait(20)
			o.wants()
			o.drained(p)
			if n := len(o.topic()); n != 8 {
				t.Errorf("%d records for 8 changes: %v", n, o.db.calls)
			}
			if len(o.alerts) > 0 {
				t.Errorf("alerts: %v", o.alerts)
			}
		})
	})
}

// DUPLICATE_SEQUENCE_NUMBER, an acknowledgement without an offset, proves nothing.
func TestPublishersAckWithoutOffset(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (
				kmsg.Response, error, bool,
			) {
				code := kerr.DuplicateSequenceNumber.Code
				return produceAnswer(req.(*kmsg.ProduceRequest), code, -1), nil, true
			})
			o.db.fill(3)
			o.publish(p)
			wait(30)
			o.wants()
			o.drained(p)
		})
	})
}

// A failure is noticed when it happens, or at the next keepalive, and not only when
// the time for an answer is over.
func TestPublishersNoticeRefusal(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.publish(p)
			wait(1)
			o.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: 1,
			})
			o.db.fill(1)
			wait(15)
			o.wants()
		})
	})
}

// A claim that cannot be given back at once is given back a little later: its rows are
// nobody's until then.
func TestPollerInsistsOnRelease(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		refused := 0
		o.db.fates = func(_ int, op string) dbFate {
			if op == "mark" && refused == 0 || op == "release" && refused < 3 {
				refused++
				return dbRefuses
			}
			return dbAnswers
		}
		o.db.fill(3)
		o.publish(publishers[0])
		wait(30)
		o.wants()
		o.drained(publishers[0])
	})
}

// Two at a time, of which one dies: the other goes on.
func TestPublishersTwo(t *testing.T) {
	eachPublisher(t, func(t *testing.T, p publisher) {
		inOffice(t, 2, func(t *testing.T, o *office) {
			j := o.publish(p)
			wait(1)
			o.publish(p)
			o.db.fill(8)
			wait(100)
			o.db.fill(8)
			j.kill()
			wait(60)
			o.db.fill(8)
			wait(60)
			o.wants()
			o.drained(p)
			want := 0
			if p.name == "log publisher" {
				want = 1
			}
			if n := o.alerted(AlertStandby); n != want || len(o.alerts) != want {
				t.Errorf("alerts: %v", o.alerts)
			}
		})
	})
}
