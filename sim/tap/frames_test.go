package tap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

// requestFrame is the frame of a real client.
func requestFrame(req kmsg.Request, version int16, corr int32) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).
		AppendRequest(nil, req, corr)
}

// replyFrame is the frame of a real broker, made apart from what the package makes.
func replyFrame(resp kmsg.Response, version int16, corr int32) []byte {
	resp.SetVersion(version)
	b := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(corr))
	if resp.IsFlexible() && resp.Key() != 18 { // KIP-511
		b = append(b, 0)
	}
	b = resp.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// batch is a record batch (magic 2) to be put on the wire.
type batch struct {
	first    int64
	producer int64
	epoch    int16
	sequence int32
	attrs    int16
	codec    *kgo.CompressionCodec
	records  []kmsg.Record
}

// plain is a batch of a producer without an id.
func plain(first int64, values ...string) batch {
	b := batch{first: first, producer: -1, epoch: -1, sequence: -1}
	for _, v := range values {
		b.records = append(b.records, kmsg.Record{Key: []byte("k"), Value: []byte(v)})
	}
	return b
}

func (b batch) bytes(t testing.TB) []byte {
	t.Helper()
	var raw []byte
	for i, r := range b.records {
		r.OffsetDelta = int32(i)
		// The length of 0 takes one byte, and does not count itself.
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		raw = r.AppendTo(raw)
	}
	if b.codec != nil {
		c, err := kgo.DefaultCompressor(*b.codec)
		if err != nil {
			t.Fatal(err)
		}
		packed, kind := c.Compress(new(bytes.Buffer), raw)
		raw, b.attrs = packed, b.attrs|int16(kind)
	}
	wire := kmsg.RecordBatch{
		FirstOffset: b.first, Length: int32(49 + len(raw)), Magic: 2, Attributes: b.attrs,
		LastOffsetDelta: int32(len(b.records) - 1), ProducerID: b.producer,
		ProducerEpoch: b.epoch, FirstSequence: b.sequence,
		NumRecords: int32(len(b.records)), Records: raw,
	}
	return wire.AppendTo(nil)
}

// identifyText takes the value for the identity, so that expectations can be read.
func identifyText(r Raw) (string, model.Position) {
	return string(r.Value), model.Position{}
}

// said is the text form of an event without its place in a history and the digests
// of values, which the identity says already.
func said(e model.Event) string {
	e.Bytes = 0
	for i := range e.Parts {
		for j := range e.Parts[i].Records {
			e.Parts[i].Records[j].Digest = ""
		}
	}
	return strings.TrimPrefix(string(model.AppendText(nil, &e)), "0 0s - ")
}

// exchange is a request, its reply, and what a history says of them.
type exchange struct {
	name       string
	versions   []int16
	req        kmsg.Request
	resp       kmsg.Response
	wantAsked  string
	wantAnswer string
}

// play decodes the exchange in every version.
func (x exchange) play(t *testing.T, n *Names) {
	for _, v := range x.versions {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			frame := requestFrame(x.req, v, 7)
			s, asked := n.decodeRequest(frame)
			check(t, x.wantAsked, asked, frame)
			if s.corr != 7 || s.replies != (x.resp != nil) {
				t.Errorf("correlation id %d, a reply is expected: %v", s.corr, s.replies)
			}
			if x.resp != nil {
				frame = replyFrame(x.resp, v, 7)
				check(t, x.wantAnswer, n.decodeReply(s, frame), frame)
			}
		})
	}
}

func check(t *testing.T, want string, e model.Event, frame []byte) {
	t.Helper()
	if e.Bytes != int64(len(frame)) {
		t.Errorf("%d bytes, of a frame of %d", e.Bytes, len(frame))
	}
	if diff := cmp.Diff(want, said(e)); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func playAll(t *testing.T, n *Names, all []exchange) {
	for _, x := range all {
		t.Run(x.name, func(t *testing.T) { x.play(t, n) })
	}
}
