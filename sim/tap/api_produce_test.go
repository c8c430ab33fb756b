package tap

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

var (
	idA = [16]byte{0xaa, 1}
	idB = [16]byte{0xbb, 2}
)

// newTestNames knows topics a and b, and takes values for identities.
func newTestNames() *Names {
	n := NewNames(identifyText)
	n.Topic(idA, "a")
	n.Topic(idB, "b")
	return n
}

type toPartition struct {
	topic     string
	id        [16]byte
	partition int32
	batches   []batch
}

func produce(t testing.TB, acks int16, txn *string, to ...toPartition) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TransactionID = acks, txn
	for _, p := range to {
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic, rt.TopicID = p.topic, p.id
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition = p.partition
		for _, b := range p.batches {
			rp.Records = append(rp.Records, b.bytes(t)...)
		}
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

type producedTo struct {
	topic     string
	id        [16]byte
	partition int32
	code      int16
	base      int64
}

func produced(to ...producedTo) *kmsg.ProduceResponse {
	resp := kmsg.NewPtrProduceResponse()
	for _, p := range to {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = p.topic, p.id
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition, rp.ErrorCode, rp.BaseOffset = p.partition, p.code, p.base
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// produceVersions: names, flexible frames, topic ids.
var produceVersions = []int16{3, 8, 9, 12, 13}

func TestProduce(t *testing.T) {
	idempotent := plain(0, "x", "y")
	idempotent.producer, idempotent.epoch, idempotent.sequence = 100, 2, 5
	txn := "T"
	transactional := idempotent
	transactional.attrs = 1 << 4
	x := func(b batch) toPartition { return toPartition{"a", idA, 0, []batch{b}} }

	playAll(t, newTestNames(), []exchange{
		{
			name: "idempotent", versions: produceVersions,
			req:        produce(t, -1, nil, x(idempotent)),
			resp:       produced(producedTo{"a", idA, 0, 0, 40}),
			wantAsked:  "request Produce producer=101 epoch=2 [a/0 seq=5 {id=x key=k} {id=y key=k}]",
			wantAnswer: "reply Produce done producer=101 epoch=2 [a/0 @40 seq=5 {@40 id=x key=k} {@41 id=y key=k}]",
		},
		{
			name: "transactional", versions: produceVersions,
			req:        produce(t, -1, &txn, x(transactional)),
			resp:       produced(producedTo{"a", idA, 0, kerr.InvalidProducerEpoch.Code, -1}),
			wantAsked:  "request Produce producer=101 epoch=2 txn=T [a/0 seq=5 {id=x key=k} {id=y key=k}]",
			wantAnswer: "reply Produce not-done producer=101 epoch=2 txn=T [a/0 seq=5 err=INVALID_PRODUCER_EPOCH {id=x key=k} {id=y key=k}]",
		},
		{
			name: "acks 0 has no reply", versions: produceVersions,
			req:       produce(t, 0, nil, x(plain(0, "x"))),
			wantAsked: `request Produce [a/0 {id=x key=k}] note="acks=0"`,
		},
		{
			name: "parts are sorted, answers find theirs", versions: produceVersions,
			req: produce(t, -1, nil,
				toPartition{"b", idB, 1, []batch{plain(0, "b1")}},
				toPartition{"b", idB, 0, []batch{plain(0, "b0")}},
				toPartition{"a", idA, 7, []batch{plain(0, "a7")}}),
			resp: produced(producedTo{"a", idA, 7, 0, 3}, producedTo{"b", idB, 0, 7, -1},
				producedTo{"b", idB, 1, 87, -1}, producedTo{"b", idB, 5, 0, 9}),
			wantAsked:  "request Produce [a/7 {id=a7 key=k}] [b/0 {id=b0 key=k}] [b/1 {id=b1 key=k}]",
			wantAnswer: "reply Produce unknown [a/7 @3 {@3 id=a7 key=k}] [b/0 err=REQUEST_TIMED_OUT {id=b0 key=k}] [b/1 err=INVALID_RECORD {id=b1 key=k}]",
		},
		{
			name: "several batches", versions: produceVersions,
			req: produce(t, 1, nil,
				toPartition{"a", idA, 0, []batch{plain(0, "x", "y"), plain(0, "z")}}),
			resp:       produced(producedTo{"a", idA, 0, 0, 10}),
			wantAsked:  "request Produce [a/0 {id=x key=k} {id=y key=k} {id=z key=k}]",
			wantAnswer: "reply Produce done [a/0 @10 {@10 id=x key=k} {@11 id=y key=k} {@12 id=z key=k}]",
		},
		{
			name: "no base offset", versions: produceVersions,
			req:        produce(t, 1, nil, x(plain(0, "x"))),
			resp:       produced(producedTo{"a", idA, 0, 0, -1}),
			wantAsked:  "request Produce [a/0 {id=x key=k}]",
			wantAnswer: "reply Produce done [a/0 {id=x key=k}]",
		},
	})
}

func TestProduceCompressed(t *testing.T) {
	lz4 := kgo.Lz4Compression()
	gzip, snappy, zstd := kgo.GzipCompression(), kgo.SnappyCompression(), kgo.ZstdCompression()
	for name, codec := range map[string]*kgo.CompressionCodec{
		"gzip": &gzip, "snappy": &snappy, "lz4": &lz4, "zstd": &zstd,
	} {
		t.Run(name, func(t *testing.T) {
			b := plain(0, "xxxxxxxxxxxxxxxxxxxxxxxx", "y")
			b.codec = codec
			exchange{
				versions:   produceVersions,
				req:        produce(t, -1, nil, toPartition{"a", idA, 0, []batch{b}}),
				resp:       produced(producedTo{"a", idA, 0, 0, 1}),
				wantAsked:  "request Produce [a/0 {id=xxxxxxxxxxxxxxxxxxxxxxxx key=k} {id=y key=k}]",
				wantAnswer: "reply Produce done [a/0 @1 {@1 id=xxxxxxxxxxxxxxxxxxxxxxxx key=k} {@2 id=y key=k}]",
			}.play(t, newTestNames())
		})
	}
}

// TestProduceUnknownTopicID: a run may meet ids before the metadata that names them.
func TestProduceUnknownTopicID(t *testing.T) {
	exchange{
		versions:   []int16{13},
		req:        produce(t, -1, nil, toPartition{"a", idA, 0, []batch{plain(0, "x")}}),
		resp:       produced(producedTo{"a", idA, 0, 0, 1}),
		wantAsked:  "request Produce [id-aa010000/0 {id=x key=k}]",
		wantAnswer: "reply Produce done [id-aa010000/0 @1 {@1 id=x key=k}]",
	}.play(t, NewNames(identifyText))
}

// TestRecordsAsWritten: what Identify gets is what the producer wrote, and without one
// the digest is the identity.
func TestRecordsAsWritten(t *testing.T) {
	var seen []Raw
	n := NewNames(func(r Raw) (string, model.Position) {
		seen = append(seen, r)
		return "ID", model.Position{Topic: "src", Partition: 1, Offset: 2}
	})
	b := batch{producer: -1, epoch: -1, sequence: -1, records: []kmsg.Record{{
		Key: []byte("k"), Value: []byte("v"),
		Headers: []kmsg.Header{{Key: "h", Value: []byte("1")}, {Key: "h", Value: []byte("2")}},
	}}}
	got := n.Records("a", b.bytes(t))
	want := []model.Record{{
		Offset: 0, ID: "ID", Key: "k", Digest: Digest([]byte("v")),
		From: model.Position{Topic: "src", Partition: 1, Offset: 2},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	raw := []Raw{{Topic: "a", Key: []byte("k"), Value: []byte("v"),
		Headers: []Header{{"h", []byte("1")}, {"h", []byte("2")}}}}
	if diff := cmp.Diff(raw, seen); diff != "" {
		t.Errorf("what Identify saw (-want +got):\n%s", diff)
	}
	if got := NewNames(nil).Records("a", b.bytes(t)); got[0].ID != got[0].Digest {
		t.Errorf("without Identify the identity is %q, not the digest %q", got[0].ID, got[0].Digest)
	}
}

// TestTornRecords: what cannot be read ends the list, and what came before it counts.
func TestTornRecords(t *testing.T) {
	one, two := plain(4, "x").bytes(t), plain(5, "y", "z").bytes(t)
	whole := append(append([]byte(nil), one...), two...)
	for cut := range whole {
		want := 0
		if cut >= len(one) {
			want = 1
		}
		if got := newTestNames().Records("a", whole[:cut]); len(got) != want {
			t.Fatalf("cut at %d of %d: %d records, not %d", cut, len(whole), len(got), want)
		}
	}
	for name, change := range map[string]func(*kmsg.RecordBatch){
		"old magic":           func(b *kmsg.RecordBatch) { b.Magic = 1 },
		"unknown codec":       func(b *kmsg.RecordBatch) { b.Attributes = 7 },
		"not gzip":            func(b *kmsg.RecordBatch) { b.Attributes = 1 },
		"length of a record":  func(b *kmsg.RecordBatch) { b.Records[0] = 0x7e },
		"negative length":     func(b *kmsg.RecordBatch) { b.Records[0] = 0x03 },
		"no end of a varint":  func(b *kmsg.RecordBatch) { b.Records[0] = 0xff },
		"garbage in a record": func(b *kmsg.RecordBatch) { b.Records[4] = 0x7f },
		"no records":          func(b *kmsg.RecordBatch) { b.NumRecords = -1 },
	} {
		var b kmsg.RecordBatch
		if err := b.ReadFrom(append([]byte(nil), one...)); err != nil {
			t.Fatal(err)
		}
		change(&b)
		if got := newTestNames().Records("a", b.AppendTo(nil)); len(got) != 0 {
			t.Errorf("%s: %d records, not none", name, len(got))
		}
	}
}
