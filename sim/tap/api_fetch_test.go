package tap

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func fetch(isolation int8, to ...producedTo) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.IsolationLevel = isolation
	for _, p := range to {
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic, rt.TopicID = p.topic, p.id
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset = p.partition, p.base
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

func fetched(end, stable int64, to ...producedTo) *kmsg.FetchResponse {
	resp := kmsg.NewPtrFetchResponse()
	for _, p := range to {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = p.topic, p.id
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.Partition, rp.ErrorCode = p.partition, p.code
		rp.HighWatermark, rp.LastStableOffset = end, stable
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// withBatches puts batches into the first partition of a reply.
func withBatches(t testing.TB, resp *kmsg.FetchResponse, all ...batch) *kmsg.FetchResponse {
	for _, b := range all {
		p := &resp.Topics[0].Partitions[0]
		p.RecordBatches = append(p.RecordBatches, b.bytes(t)...)
	}
	return resp
}

// control is a batch that ends a transaction: kind 0 aborts, 1 commits.
func control(first, producer int64, kind byte) batch {
	return batch{
		first: first, producer: producer, epoch: 1, sequence: -1,
		attrs:   transactional | controlRecords,
		records: []kmsg.Record{{Key: []byte{0, 0, 0, kind}, Value: []byte{0, 0, 0, 0, 0, 0}}},
	}
}

// fetchVersions: names, sessions, flexible frames, topic ids.
var fetchVersions = []int16{4, 7, 11, 12, 13, 16, 18}

func TestFetch(t *testing.T) {
	txn := plain(5, "t")
	txn.producer, txn.epoch, txn.sequence, txn.attrs = 9, 1, 0, transactional
	playAll(t, newTestNames(), []exchange{
		{
			name: "records and markers", versions: fetchVersions,
			req: fetch(1, producedTo{"a", idA, 2, 0, 3}),
			resp: withBatches(t, fetched(9, 8, producedTo{"a", idA, 2, 0, 0}),
				plain(3, "x", "y"), txn, control(6, 9, 1), control(7, 9, 0)),
			wantAsked:  "request Fetch [a/2 @3] note=read_committed",
			wantAnswer: "reply Fetch done [a/2 end=9 stable=8 {@3 id=x key=k} {@4 id=y key=k} {@5 id=t key=k producer=10} {@6 commit producer=10} {@7 abort producer=10}]",
		},
		{
			name: "partitions are sorted", versions: fetchVersions,
			req: fetch(0, producedTo{"b", idB, 1, 0, 1}, producedTo{"b", idB, 0, 0, 2},
				producedTo{"a", idA, 3, 0, 0}),
			resp: fetched(4, 4, producedTo{"b", idB, 1, 0, 0},
				producedTo{"a", idA, 3, kerr.NotLeaderForPartition.Code, 0}),
			wantAsked:  "request Fetch [a/3 @0] [b/0 @2] [b/1 @1]",
			wantAnswer: "reply Fetch done [a/3 end=4 stable=4 err=NOT_LEADER_FOR_PARTITION] [b/1 end=4 stable=4]",
		},
		{
			name: "nothing new in a session", versions: []int16{7, 12, 18},
			req:        fetch(0),
			resp:       fetched(0, 0),
			wantAsked:  "request Fetch",
			wantAnswer: "reply Fetch done",
		},
		{
			name: "the session is gone", versions: []int16{7, 12, 18},
			req:        fetch(0),
			resp:       &kmsg.FetchResponse{ErrorCode: kerr.FetchSessionIDNotFound.Code},
			wantAsked:  "request Fetch",
			wantAnswer: "reply Fetch not-done err=FETCH_SESSION_ID_NOT_FOUND",
		},
	})
}

// TestTopicIDsFromMetadata: frames with topic ids get their names from an earlier reply.
func TestTopicIDsFromMetadata(t *testing.T) {
	n := NewNames(identifyText)
	meta := kmsg.NewPtrMetadataResponse()
	for _, name := range []string{"a", "b"} {
		mt := kmsg.NewMetadataResponseTopic()
		mt.Topic, mt.TopicID = kmsg.StringPtr(name), map[string][16]byte{"a": idA, "b": idB}[name]
		meta.Topics = append(meta.Topics, mt)
	}
	gone := kmsg.NewMetadataResponseTopic() // an id that the broker does not know
	gone.ErrorCode, gone.TopicID = kerr.UnknownTopicID.Code, [16]byte{1}
	meta.Topics = append(meta.Topics, gone)
	playAll(t, n, []exchange{
		{
			name: "metadata", versions: []int16{12, 13},
			req: kmsg.NewPtrMetadataRequest(), resp: meta,
			wantAsked: "request Metadata", wantAnswer: "reply Metadata done",
		},
		{
			name: "fetch", versions: []int16{13},
			req: fetch(0, producedTo{"", idA, 0, 0, 0}, producedTo{"", idB, 1, 0, 0},
				producedTo{"", [16]byte{1}, 0, 0, 0}),
			resp:       fetched(1, 1, producedTo{"", idB, 1, 0, 0}),
			wantAsked:  "request Fetch [a/0 @0] [b/1 @0] [id-01000000/0 @0]",
			wantAnswer: "reply Fetch done [b/1 end=1 stable=1]",
		},
	})
}

func TestListOffsets(t *testing.T) {
	req, resp := kmsg.NewPtrListOffsetsRequest(), kmsg.NewPtrListOffsetsResponse()
	for _, p := range []struct {
		topic           string
		partition       int32
		time, offset    int64
		errorOfTheReply int16
	}{{"b", 1, -1, 17, 0}, {"a", 0, -2, -1, kerr.LeaderNotAvailable.Code}} {
		rt, at := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsResponseTopic()
		rt.Topic, at.Topic = p.topic, p.topic
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p.partition, p.time
		ap := kmsg.NewListOffsetsResponseTopicPartition()
		ap.Partition, ap.Offset, ap.ErrorCode = p.partition, p.offset, p.errorOfTheReply
		rt.Partitions, at.Partitions = append(rt.Partitions, rp), append(at.Partitions, ap)
		req.Topics, resp.Topics = append(req.Topics, rt), append(resp.Topics, at)
	}
	exchange{
		versions: []int16{1, 5, 6, 11},
		req:      req, resp: resp,
		wantAsked:  "request ListOffsets [a/0 @-2] [b/1]",
		wantAnswer: "reply ListOffsets done [a/0 err=LEADER_NOT_AVAILABLE] [b/1 @17]",
	}.play(t, newTestNames())
}

// TestApiVersions: a broker that does not know the version answers in version 0.
func TestApiVersions(t *testing.T) {
	n := newTestNames()
	ok := kmsg.NewPtrApiVersionsResponse()
	key := kmsg.NewApiVersionsResponseApiKey()
	key.ApiKey, key.MaxVersion = 18, 3
	ok.ApiKeys = append(ok.ApiKeys, key)
	exchange{
		versions: []int16{0, 2, 3, 5},
		req:      kmsg.NewPtrApiVersionsRequest(), resp: ok,
		wantAsked: "request ApiVersions", wantAnswer: "reply ApiVersions done",
	}.play(t, n)

	old := *ok
	old.ErrorCode = kerr.UnsupportedVersion.Code
	s, _ := n.decodeRequest(requestFrame(kmsg.NewPtrApiVersionsRequest(), 5, 7))
	frame := replyFrame(&old, 0, 7)
	check(t, "reply ApiVersions not-done err=UNSUPPORTED_VERSION", n.decodeReply(s, frame), frame)
}
