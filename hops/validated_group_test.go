//go:build synctests

package hops

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Members come, go and crash while records arrive.
func TestValidatedRebalances(t *testing.T) {
	bothGroups(t, func(t *testing.T, group func(*ValidatedConfig)) {
		inPipe(t, 3, func(t *testing.T, p *pipe) {
			small := func(cfg *ValidatedConfig) { cfg.MaxPoll = 2 }
			var lives []*life
			want := make(map[int32][]int64)
			for n := range 12 {
				for partition := range int32(3) {
					p.append(partition, append(p.good(3), "{}")...)
					first := int64(4 * n)
					want[partition] = append(want[partition], first, first+1, first+2)
				}
				switch n % 3 {
				case 0:
					lives = append(lives, p.start(fmt.Sprint("m", n), group, small))
				case 2:
					gone := lives[0]
					lives = lives[1:]
					if n%2 == 0 {
						gone.line.kill()
					} else if err := gone.stop(); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(time.Duration(300*n) * time.Millisecond)
			}
			p.start("last", group)
			wait(240)
			p.wants(want)
		})
	})
}

// Whatever moment a second member chooses to join, nothing is carried over twice.
func TestValidatedJoinAtAnyMoment(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		for _, key := range []kmsg.Key{kmsg.Produce, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
			t.Run(key.Name(), func(t *testing.T) {
				inPipe(t, 2, func(t *testing.T, p *pipe) {
					l := p.start("a", group)
					wait(10)
					second := make(chan struct{}, 1)
					l.line.setFaults(func(k kmsg.Key, nth int) fate {
						if k == key && nth == 1 {
							second <- struct{}{}
							return loseReply
						}
						return deliver
					})
					p.append(0, p.good(2)...)
					p.append(1, p.good(2)...)
					<-second
					p.start("b", group)
					for range 5 {
						wait(3)
						p.append(0, p.good(1)...)
						p.append(1, p.good(1)...)
					}
					wait(60)
					p.wants(map[int32][]int64{0: upTo(7), 1: upTo(7)})
				})
			})
		}
	})
}

// A process that is cut off in a transaction, and comes back when another has done
// its work, adds nothing to it.
func TestValidatedZombie(t *testing.T) {
	bothGroups(t, func(t *testing.T, group func(*ValidatedConfig)) {
		for _, key := range []kmsg.Key{kmsg.Produce, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
			for _, heir := range []string{"a", "b"} {
				for _, seconds := range []int{5, 12, 20, 90} {
					name := fmt.Sprintf("%s, %s comes, %d s", key.Name(), heir, seconds)
					t.Run(name, func(t *testing.T) {
						inPipe(t, 2, func(t *testing.T, p *pipe) {
							l := p.start("a", group)
							wait(10)
							l.line.setFaults(func(k kmsg.Key, _ int) fate {
								if k == key {
									return freeze
								}
								return deliver
							})
							p.append(0, p.good(3)...)
							wait(1)
							p.start(heir, group)
							wait(seconds)
							l.line.thaw()
							p.append(0, p.good(2)...)
							p.append(1, p.good(2)...)
							wait(150)
							p.append(0, p.good(1)...)
							wait(30)
							p.wants(map[int32][]int64{0: upTo(6), 1: upTo(2)})
						})
					})
				}
			}
		}
	})
}

// A stop finishes the transaction at hand.
func TestValidatedStopsInTransaction(t *testing.T) {
	eachProtocol(t, func(t *testing.T, group func(*ValidatedConfig)) {
		inPipe(t, 1, func(t *testing.T, p *pipe) {
			begun := make(chan struct{})
			p.cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (
				kmsg.Response, error, bool,
			) {
				if request.(*kmsg.ProduceRequest).TransactionID == nil {
					p.cluster.KeepControl()
					return nil, nil, false
				}
				close(begun)
				return nil, nil, false
			})
			l := p.start("a", group)
			wait(10)
			p.append(0, p.good(1)...)
			<-begun
			start := time.Now()
			if err := l.stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("stopping took %v", took)
			}
			p.wants(map[int32][]int64{0: upTo(1)})
			for _, member := range p.members() {
				t.Errorf("%s is still in the group", member)
			}
		})
	})
}

func (p *pipe) members() []string {
	p.t.Helper()
	var members []string
	if info := p.cluster.GroupInfo(validators); info != nil {
		for _, member := range info.Members {
			members = append(members, member.MemberID)
		}
	}
	slices.Sort(members)
	return members
}

// A stop is not held up by a coordinator that keeps saying "later".
func TestValidatedStopsAgainstCoordinator(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		p.append(0, p.good(1)...)
		p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.InitProducerID}, Err: kerr.ConcurrentTransactions, Count: -1,
		})
		l := p.start("a")
		wait(30)
		start := time.Now()
		_ = l.stop()
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("stopping took %v", took)
		}
		if got := p.readAll(ReadUncommitted); len(got) > 0 {
			t.Error(cmp.Diff([]Seen(nil), got))
		}
	})
}

// Output that is not acknowledged in time is aborted before the coordinator does
// it, and the process goes on.
func TestValidatedSlowOutput(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		p.append(0, p.good(2)...)
		fault := p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: output,
			Err: kerr.NotLeaderForPartition, Count: -1,
		})
		l := p.start("a")
		wait(120)
		if p.alerted(AlertAborted) == 0 {
			t.Error("no alert")
		}
		if got := p.commitOf(0); got != -1 {
			t.Errorf("committed %d, want nothing", got)
		}
		fault.Remove()
		wait(30)
		p.wants(map[int32][]int64{0: upTo(2)})
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
}
