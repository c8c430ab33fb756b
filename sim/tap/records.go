package tap

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

// Attribute bits of a record batch.
const (
	codecMask      = 0b111
	transactional  = 1 << 4
	controlRecords = 1 << 5
)

// maxRecords bounds what one batch may say that it holds, so that a corrupt
// count cannot ask for all memory.
const maxRecords = 1 << 20

var decompressor = kgo.DefaultDecompressor()

// batches decodes record batches one after the other. What cannot be decoded
// ends the list: a fetch reply may end in the middle of a batch.
func batches(b []byte) []kmsg.RecordBatch {
	var all []kmsg.RecordBatch
	for len(b) >= 61 {
		size := int(int32(binary.BigEndian.Uint32(b[8:]))) + 12
		if size < 61 || size > len(b) {
			break
		}
		var batch kmsg.RecordBatch
		if batch.ReadFrom(b[:size]) != nil || batch.Magic != 2 {
			break
		}
		all = append(all, batch)
		b = b[size:]
	}
	return all
}

// Records decodes the record batches of a fetch reply, at their offsets.
func (n *Names) Records(topic string, b []byte) []model.Record {
	var out []model.Record
	for _, batch := range batches(b) {
		out = n.appendRecords(out, topic, batch, batch.FirstOffset)
	}
	return out
}

// appendRecords decodes the records of batch, with offsets counted from base.
func (n *Names) appendRecords(
	out []model.Record, topic string, batch kmsg.RecordBatch, base int64,
) []model.Record {
	raw := batch.Records
	if codec := batch.Attributes & codecMask; codec != 0 {
		var err error
		raw, err = decompressor.Decompress(raw, kgo.CompressionCodecType(codec))
		if err != nil {
			return out
		}
	}
	for i := int32(0); i < min(batch.NumRecords, maxRecords) && len(raw) > 0; i++ {
		length, used := binary.Varint(raw)
		if used <= 0 || length < 0 || int64(len(raw)-used) < length {
			return out
		}
		var rec kmsg.Record
		if rec.ReadFrom(raw[:used+int(length)]) != nil {
			return out
		}
		raw = raw[used+int(length):]
		r := n.record(topic, rec)
		r.Producer = batch.ProducerID + 1
		if base >= 0 {
			r.Offset = base + int64(rec.OffsetDelta)
		}
		if batch.Attributes&controlRecords != 0 {
			r = marker(r, rec.Key)
		}
		out = append(out, r)
	}
	return out
}

func (n *Names) record(topic string, rec kmsg.Record) model.Record {
	raw := Raw{Topic: topic, Key: rec.Key, Value: rec.Value}
	for _, h := range rec.Headers {
		raw.Headers = append(raw.Headers, Header(h))
	}
	return n.describe(raw)
}

// described is what names a record without headers: a run meets each many times.
type described struct{ topic, key, digest string }

// describe says what the application calls a record.
func (n *Names) describe(raw Raw) model.Record {
	at := described{raw.Topic, string(raw.Key), Digest(raw.Value)}
	plain := len(raw.Headers) == 0
	if plain {
		n.mu.Lock()
		known, ok := n.records[at]
		n.mu.Unlock()
		if ok {
			return known
		}
	}
	id, from := n.identify(raw)
	r := model.Record{Offset: -1, ID: id, Key: at.key, Digest: at.digest, From: from}
	if n.classify != nil {
		r.Class, r.Cell = n.classify(raw)
	}
	if plain {
		n.mu.Lock()
		n.records[at] = r
		n.mu.Unlock()
	}
	return r
}

// marker tells a commit marker from an abort marker by the control record's key:
// version, then type (0 abort, 1 commit).
func marker(r model.Record, key []byte) model.Record {
	kind := model.AbortMarker
	if len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 1 {
		kind = model.CommitMarker
	}
	return model.Record{Offset: r.Offset, Kind: kind, Producer: r.Producer}
}
