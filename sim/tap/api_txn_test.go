package tap

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestInitProducerID(t *testing.T) {
	txn, idempotent := kmsg.NewPtrInitProducerIDRequest(), kmsg.NewPtrInitProducerIDRequest()
	txn.TransactionalID = kmsg.StringPtr("T")
	given, refused := kmsg.NewPtrInitProducerIDResponse(), kmsg.NewPtrInitProducerIDResponse()
	given.ProducerID, given.ProducerEpoch = 0, 3 // brokers may begin at 0
	refused.ErrorCode, refused.ProducerID = kerr.ConcurrentTransactions.Code, -1
	versions := []int16{0, 1, 2, 5}
	playAll(t, newTestNames(), []exchange{
		{
			name: "idempotent", versions: versions, req: idempotent, resp: given,
			wantAsked:  "request InitProducerID",
			wantAnswer: "reply InitProducerID done producer=1 epoch=3",
		},
		{
			name: "transactional", versions: versions, req: txn, resp: refused,
			wantAsked:  "request InitProducerID txn=T",
			wantAnswer: "reply InitProducerID not-done err=CONCURRENT_TRANSACTIONS txn=T",
		},
	})
}

func TestAddPartitionsToTxn(t *testing.T) {
	req, resp := kmsg.NewPtrAddPartitionsToTxnRequest(), kmsg.NewPtrAddPartitionsToTxnResponse()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = "T", 4, 1
	for topic, code := range map[string]int16{"a": 0, "b": kerr.InvalidTxnState.Code} {
		rt := kmsg.NewAddPartitionsToTxnRequestTopic()
		at := kmsg.NewAddPartitionsToTxnResponseTopic()
		rt.Topic, at.Topic, rt.Partitions = topic, topic, []int32{1, 0}
		for _, p := range rt.Partitions {
			ap := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			ap.Partition, ap.ErrorCode = p, code
			at.Partitions = append(at.Partitions, ap)
		}
		req.Topics, resp.Topics = append(req.Topics, rt), append(resp.Topics, at)
	}
	exchange{
		versions: []int16{0, 2, 3}, req: req, resp: resp, // 4 and later are for brokers
		wantAsked:  "request AddPartitionsToTxn producer=5 epoch=1 txn=T [a/0] [a/1] [b/0] [b/1]",
		wantAnswer: "reply AddPartitionsToTxn not-done producer=5 epoch=1 txn=T [a/0] [a/1] [b/0 err=INVALID_TXN_STATE] [b/1 err=INVALID_TXN_STATE]",
	}.play(t, newTestNames())
}

func TestTxnOffsets(t *testing.T) {
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = "T", 4, 1, "g"
	req, resp := kmsg.NewPtrTxnOffsetCommitRequest(), kmsg.NewPtrTxnOffsetCommitResponse()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = "T", 4, 1, "g"
	req.MemberID, req.Generation = "abc", 2
	for i, code := range []int16{kerr.UnknownMemberID.Code, 0} {
		rt, at := kmsg.NewTxnOffsetCommitRequestTopic(), kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID, at.Topic, at.TopicID = "a", idA, "a", idA
		rp, ap := kmsg.NewTxnOffsetCommitRequestTopicPartition(),
			kmsg.NewTxnOffsetCommitResponseTopicPartition()
		rp.Partition, rp.Offset = int32(1-i), int64(7+i)
		ap.Partition, ap.ErrorCode = int32(1-i), code
		rt.Partitions, at.Partitions = append(rt.Partitions, rp), append(at.Partitions, ap)
		req.Topics, resp.Topics = append(req.Topics, rt), append(resp.Topics, at)
	}
	playAll(t, newTestNames(), []exchange{
		{
			name: "add", versions: []int16{0, 2, 3, 4},
			req: add, resp: kmsg.NewPtrAddOffsetsToTxnResponse(),
			wantAsked:  "request AddOffsetsToTxn producer=5 epoch=1 group=g txn=T",
			wantAnswer: "reply AddOffsetsToTxn done producer=5 epoch=1 group=g txn=T",
		},
		{
			name: "add, fenced", versions: []int16{0, 2, 3, 4},
			req: add, resp: &kmsg.AddOffsetsToTxnResponse{ErrorCode: kerr.ProducerFenced.Code},
			wantAsked:  "request AddOffsetsToTxn producer=5 epoch=1 group=g txn=T",
			wantAnswer: "reply AddOffsetsToTxn not-done err=PRODUCER_FENCED producer=5 epoch=1 group=g txn=T",
		},
		{
			name: "commit", versions: []int16{3, 4, 5, 6}, req: req, resp: resp,
			wantAsked:  "request TxnOffsetCommit producer=5 epoch=1 group=g member=abc gen=2 txn=T [a/0 @8] [a/1 @7]",
			wantAnswer: "reply TxnOffsetCommit not-done producer=5 epoch=1 group=g member=abc gen=2 txn=T [a/0 @8] [a/1 @7 err=UNKNOWN_MEMBER_ID]",
		},
	})
}

func TestEndTxn(t *testing.T) {
	commit, abort := kmsg.NewPtrEndTxnRequest(), kmsg.NewPtrEndTxnRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch = "T", 4, 1
	*abort = *commit
	commit.Commit = true
	versions := []int16{0, 2, 3, 5}
	playAll(t, newTestNames(), []exchange{
		{
			name: "commit", versions: versions, req: commit, resp: kmsg.NewPtrEndTxnResponse(),
			wantAsked:  "request EndTxn producer=5 epoch=1 txn=T note=commit",
			wantAnswer: "reply EndTxn done producer=5 epoch=1 txn=T note=commit",
		},
		{
			name: "abort, time-out", versions: versions,
			req: abort, resp: &kmsg.EndTxnResponse{ErrorCode: kerr.RequestTimedOut.Code},
			wantAsked:  "request EndTxn producer=5 epoch=1 txn=T note=abort",
			wantAnswer: "reply EndTxn unknown err=REQUEST_TIMED_OUT producer=5 epoch=1 txn=T note=abort",
		},
	})
}
