//go:build synctests

package hops

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestNewValidatedRefuses(t *testing.T) {
	right := ValidatedConfig{Input: "a", Output: "b", Group: "c", Instance: "d"}
	if _, err := NewValidated(right); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*ValidatedConfig){
		"are required": func(cfg *ValidatedConfig) { cfg.Instance = "" },
		"must differ":  func(cfg *ValidatedConfig) { cfg.Output = "a" },
		"not below":    func(cfg *ValidatedConfig) { cfg.MaxBatchTime = time.Minute },
		"negative":     func(cfg *ValidatedConfig) { cfg.Backoff = -1 },
	} {
		cfg := right
		spoil(&cfg)
		if _, err := NewValidated(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Accepted records arrive with their key, bytes and headers; rejects leave no
// trace but the commit that passes them.
func TestValidatedCopies(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		inPipe(t, 2, func(t *testing.T, p *pipe) {
			values := p.good(5)
			values[0], values[3] = "not JSON", "{}"
			p.append(0, values...)
			p.append(1, p.good(3)...)
			l := p.start("a", group)
			wait(10)
			p.wants(map[int32][]int64{0: {1, 2, 4}, 1: {0, 1, 2}})
			p.append(0, "{}", "{}") // a poll of rejects alone
			wait(10)
			p.wants(map[int32][]int64{0: {1, 2, 4}, 1: {0, 1, 2}})
			if err := l.stop(); err != nil {
				t.Error(err)
			}
			if len(p.alerts) > 0 {
				t.Errorf("alerts: %v", p.alerts)
			}
			first := p.readAll(ReadUncommitted)[0]
			value := string(mustValue(t, event("e1")))
			if string(first.Key) != "ada" || string(first.Value) != value {
				t.Errorf("the first record is %q: %q", first.Key, first.Value)
			}
		})
	})
}

func TestValidatedHeaders(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		p.append(0, p.good(1)...)
		p.start("a")
		wait(10)
		var headers []string
		client := p.client(kgo.ConsumeTopics(output))
		for _, h := range client.PollFetches(t.Context()).Records()[0].Headers {
			headers = append(headers, h.Key+"="+string(h.Value))
		}
		want := []string{"trace=t1", "origin-topic=" + topic, "origin-partition=0",
			"origin-offset=0"}
		if diff := cmp.Diff(want, headers); diff != "" {
			t.Error(diff)
		}
	})
}

// What a transaction wrote before it was aborted is there, for those who ask for
// it.
func TestValidatedAbort(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		inPipe(t, 1, func(t *testing.T, p *pipe) {
			p.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{kmsg.TxnOffsetCommit}, Err: kerr.IllegalGeneration, Count: 1,
			})
			p.append(0, p.good(3)...)
			p.start("a", group)
			wait(30)
			p.wants(map[int32][]int64{0: upTo(3)})
			if got := p.shape(ReadUncommitted); got != "0 1 2 0 1 2" {
				t.Errorf("read_uncommitted shows %s", got)
			}
		})
	})
}

// A process that is killed while its transaction is open is followed by one with
// the same identity, which ends the transaction and carries the records over.
func TestValidatedCrash(t *testing.T) {
	bothGroups(t, func(t *testing.T, group func(*ValidatedConfig)) {
		for _, key := range []kmsg.Key{
			kmsg.InitProducerID, kmsg.Produce, kmsg.TxnOffsetCommit, kmsg.EndTxn,
		} {
			t.Run(key.Name(), func(t *testing.T) {
				inPipe(t, 2, func(t *testing.T, p *pipe) {
					p.append(0, p.good(3)...)
					l := p.start("a", group)
					l.line.setFaults(func(k kmsg.Key, nth int) fate {
						if k == key {
							return crash
						}
						return deliver
					})
					wait(10)
					p.start("a", group)
					wait(90)
					p.append(0, p.good(2)...)
					wait(10)
					p.wants(map[int32][]int64{0: upTo(5)})
				})
			})
		}
	})
}

// A dead member's transaction holds readers back no longer than its timeout,
// although nobody takes its identity over.
func TestValidatedCrashOtherInstance(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		p.append(0, p.good(3)...)
		l := p.start("a")
		l.line.setFaults(func(k kmsg.Key, _ int) fate {
			if k == kmsg.EndTxn {
				return crash
			}
			return deliver
		})
		wait(10)
		p.start("b")
		wait(60) // session timeout 45 s, transaction timeout 15 s
		p.wants(map[int32][]int64{0: upTo(3)})
	})
}

// A reply that is lost on its way changes nothing, whatever it answered.
func TestValidatedLostReplies(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		for _, key := range []kmsg.Key{
			kmsg.InitProducerID, kmsg.Produce, kmsg.TxnOffsetCommit, kmsg.EndTxn, kmsg.OffsetFetch,
		} {
			for _, times := range []int{1, 2, 5} {
				t.Run(fmt.Sprintf("%s %d", key.Name(), times), func(t *testing.T) {
					inPipe(t, 2, func(t *testing.T, p *pipe) {
						p.append(0, p.good(3)...)
						l := p.start("a", group, quickly)
						l.line.setFaults(func(k kmsg.Key, nth int) fate {
							if k == key && nth <= times {
								return loseReply
							}
							return deliver
						})
						wait(60)
						p.append(0, p.good(2)...)
						wait(60)
						p.wants(map[int32][]int64{0: upTo(5)})
						if err := l.stop(); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	})
}

// Two processes that share an identity: the elder is fenced and ends, the younger
// goes on.
func TestValidatedTwoOwners(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		inPipe(t, 2, func(t *testing.T, p *pipe) {
			p.append(0, p.good(2)...)
			p.append(1, p.good(2)...)
			elder := p.start("a", group)
			wait(10)
			younger := p.start("a", group)
			wait(20)
			p.append(0, p.good(2)...)
			p.append(1, p.good(2)...)
			wait(60)
			p.append(0, p.good(1)...)
			p.append(1, p.good(1)...)
			wait(60)
			p.wants(map[int32][]int64{0: upTo(5), 1: upTo(5)})
			select {
			case err := <-elder.ended:
				elder.ended <- nil
				var fenced *FencedError
				if !errors.As(err, &fenced) {
					t.Errorf("the elder ended with %v", err)
				}
			default:
				t.Error("the elder goes on")
			}
			if n := elder.line.count(kmsg.InitProducerID); n != 1 {
				t.Errorf("the elder initialised its id %d times", n)
			}
			if err := younger.stop(); err != nil {
				t.Errorf("the younger ended with %v", err)
			}
			if p.alerted(AlertFenced) != 1 {
				t.Errorf("alerts: %v", p.alerts)
			}
		})
	})
}

// Refused fetches are waited out, without spinning.
func TestValidatedFetchRefused(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		var refused atomic.Int32
		fault := p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1,
		})
		p.append(0, p.good(2)...)
		p.start("a", func(cfg *ValidatedConfig) {
			cfg.Alert = func(a Alert) {
				if a.What == AlertFetchFailed {
					refused.Add(1)
				}
			}
		})
		wait(100)
		if n := refused.Load(); n < 2 || n > 50 {
			t.Errorf("%d refused fetches in 100 s", n)
		}
		fault.Remove()
		wait(20)
		p.wants(map[int32][]int64{0: upTo(2)})
	})
}
