//go:build synctests

package hops

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whatever a request is answered, and for however long, no record is lost or
// carried over twice, and only a final answer ends the process.
func TestValidatedAnswers(t *testing.T) {
	for _, test := range []struct {
		key   kmsg.Key
		err   *kerr.Error
		final bool
	}{
		{kmsg.InitProducerID, kerr.ConcurrentTransactions, false},
		{kmsg.InitProducerID, kerr.CoordinatorLoadInProgress, false},
		{kmsg.InitProducerID, kerr.NotCoordinator, false},
		{kmsg.InitProducerID, kerr.ProducerFenced, true},
		{kmsg.AddPartitionsToTxn, kerr.ConcurrentTransactions, false},
		{kmsg.AddOffsetsToTxn, kerr.CoordinatorLoadInProgress, false},
		{kmsg.Produce, kerr.NotLeaderForPartition, false},
		{kmsg.Produce, kerr.RequestTimedOut, false},
		{kmsg.Produce, kerr.InvalidProducerEpoch, true},
		{kmsg.Produce, kerr.OutOfOrderSequenceNumber, false},
		{kmsg.Produce, kerr.TopicAuthorizationFailed, false},
		{kmsg.TxnOffsetCommit, kerr.CoordinatorLoadInProgress, false},
		{kmsg.TxnOffsetCommit, kerr.NotCoordinator, false},
		{kmsg.TxnOffsetCommit, kerr.IllegalGeneration, false},
		{kmsg.TxnOffsetCommit, kerr.StaleMemberEpoch, false},
		{kmsg.TxnOffsetCommit, kerr.UnknownMemberID, false},
		{kmsg.TxnOffsetCommit, kerr.FencedMemberEpoch, false},
		{kmsg.TxnOffsetCommit, kerr.ProducerFenced, true},
		{kmsg.TxnOffsetCommit, kerr.InvalidProducerEpoch, true},
		{kmsg.TxnOffsetCommit, kerr.FencedInstanceID, true},
		{kmsg.EndTxn, kerr.ConcurrentTransactions, false},
		{kmsg.EndTxn, kerr.CoordinatorLoadInProgress, false},
		{kmsg.EndTxn, kerr.NotCoordinator, false},
		{kmsg.EndTxn, kerr.UnknownServerError, false},
		{kmsg.EndTxn, kerr.RequestTimedOut, false},
		{kmsg.EndTxn, kerr.TransactionAbortable, false},
		{kmsg.EndTxn, kerr.ProducerFenced, true},
		{kmsg.EndTxn, kerr.InvalidProducerEpoch, true},
		{kmsg.OffsetFetch, kerr.UnstableOffsetCommit, false},
	} {
		for name, change := range map[string]func(*ValidatedConfig){
			"": func(*ValidatedConfig) {}, "classic": classicGroup, "kafka 3.6": before890,
		} {
			for _, count := range []int{1, 4} {
				t.Run(test.key.Name()+" "+test.err.Message+" "+name, func(t *testing.T) {
					if name == "kafka 3.6" && stopsBefore890(test.key, test.err) {
						t.Skip("the client gives up, and a new process begins anew")
					}
					inPipe(t, 1, func(t *testing.T, p *pipe) {
						p.append(0, append(p.good(2), "{}")...)
						p.cluster.Fault(kfake.Fault{
							Keys: []kmsg.Key{test.key}, Err: test.err, Count: count,
						})
						p.answered(p.start("a", quickly, change), test.final)
					})
				})
			}
		}
	}
}

// answered checks that a life ended if the answers were final, and otherwise has
// carried over what was there, and goes on to do so.
func (p *pipe) answered(l *life, final bool) {
	p.t.Helper()
	wait(120)
	select {
	case err := <-l.ended:
		l.ended <- err
		var fenced *FencedError
		if !final || !errors.As(err, &fenced) {
			p.t.Errorf("ended with %v", err)
		}
		if n := l.line.count(kmsg.InitProducerID); n != 1 {
			p.t.Errorf("initialised its id %d times", n)
		}
		return
	default:
	}
	if final {
		p.t.Error("goes on")
	}
	p.append(0, p.good(2)...)
	wait(60)
	p.wants(map[int32][]int64{0: {0, 1, 3, 4}})
}

func stopsBefore890(key kmsg.Key, err *kerr.Error) bool {
	return key == kmsg.Produce && err == kerr.OutOfOrderSequenceNumber ||
		err == kerr.TransactionAbortable
}
