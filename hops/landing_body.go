package hops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Line is one offset in the body of an object. It is one of three things: a
// record (Reject empty, Hole false), a reject (Reject is the reason; the record
// itself is in the dead-letter topic), or a hole (the log has no record at this
// offset for a consumer to read: removed by retention or compaction, or a
// transaction marker).
//
// A nil Key or Value is a null in Kafka, and differs from an empty one.
type Line struct {
	Offset    int64
	Timestamp int64 // milliseconds since the Unix epoch; records only
	Key       []byte
	Value     []byte
	Reject    string
	Hole      bool
}

// jsonLine is the wire form of a Line. Key and value are JSON strings when they
// are valid UTF-8, so that a body can be read with any JSON tool, and base64 in
// a field of another name when they are not. A null has no field at all. The
// order of fields is the order here, so equal lines are equal bytes.
type jsonLine struct {
	Offset    *int64  `json:"offset"`
	Timestamp *int64  `json:"timestamp,omitempty"`
	Key       *string `json:"key,omitempty"`
	KeyB64    *[]byte `json:"key_b64,omitempty"`
	Value     *string `json:"value,omitempty"`
	ValueB64  *[]byte `json:"value_b64,omitempty"`
	Reject    *string `json:"reject,omitempty"`
	Hole      *bool   `json:"hole,omitempty"`
}

// AppendBody appends the lines to body, one JSON object and one newline each.
// The bytes depend on the lines alone.
func AppendBody(body []byte, lines ...Line) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // ends each object with a newline
	encoder.SetEscapeHTML(false)
	for _, line := range lines {
		wire := jsonLine{Offset: &line.Offset}
		switch {
		case line.Hole:
			wire.Hole = &line.Hole
		case line.Reject != "":
			wire.Reject = &line.Reject
		default:
			wire.Timestamp = &line.Timestamp
			wire.Key, wire.KeyB64 = textOrBytes(line.Key)
			wire.Value, wire.ValueB64 = textOrBytes(line.Value)
		}
		_ = encoder.Encode(wire) // strings, numbers and bytes always encode
	}
	return append(body, out.Bytes()...)
}

func textOrBytes(b []byte) (*string, *[]byte) {
	if b == nil {
		return nil, nil
	}
	if utf8.Valid(b) {
		text := string(b)
		return &text, nil
	}
	return nil, &b
}

// ParseBody reads the body of an object. It fails unless the body is a whole
// number of lines with successive offsets, each a record, a reject or a hole:
// anything else was not written by landing, or is torn.
func ParseBody(body []byte) ([]Line, error) {
	if len(body) == 0 || body[len(body)-1] != '\n' {
		return nil, errors.New("body does not end with a newline")
	}
	var lines []Line
	for n, raw := range bytes.Split(body[:len(body)-1], []byte("\n")) {
		line, err := parseLine(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if n > 0 && line.Offset != lines[n-1].Offset+1 {
			return nil, fmt.Errorf("line %d: offset %d follows %d",
				n+1, line.Offset, lines[n-1].Offset)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func parseLine(raw []byte) (Line, error) {
	var wire jsonLine
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wire); err != nil {
		return Line{}, fmt.Errorf("decoding: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Line{}, errors.New("more than one JSON value")
	}
	if wire.Offset == nil || *wire.Offset < 0 {
		return Line{}, errors.New("no offset")
	}
	line := Line{Offset: *wire.Offset}
	isRecord, isReject, isHole := wire.Timestamp != nil, wire.Reject != nil, wire.Hole != nil
	hasData := wire.Key != nil || wire.KeyB64 != nil || wire.Value != nil || wire.ValueB64 != nil
	switch {
	case isRecord && !isReject && !isHole:
		line.Timestamp = *wire.Timestamp
		var keyErr, valueErr error
		line.Key, keyErr = oneOf(wire.Key, wire.KeyB64)
		line.Value, valueErr = oneOf(wire.Value, wire.ValueB64)
		return line, errors.Join(keyErr, valueErr)
	case isReject && !isRecord && !isHole && !hasData && *wire.Reject != "":
		line.Reject = *wire.Reject
		return line, nil
	case isHole && !isRecord && !isReject && !hasData && *wire.Hole:
		line.Hole = true
		return line, nil
	}
	return Line{}, errors.New("neither a record, nor a reject, nor a hole")
}

func oneOf(text *string, b64 *[]byte) ([]byte, error) {
	switch {
	case text != nil && b64 != nil:
		return nil, errors.New("both as text and as base64")
	case text != nil:
		return []byte(*text), nil
	case b64 != nil:
		if utf8.Valid(*b64) {
			return nil, errors.New("base64 of valid UTF-8")
		}
		return *b64, nil
	}
	return nil, nil
}

// ObjectKey names the object of a record (offset is its offset) or of a block
// (offset is the first of its range). Offsets are padded to 20 digits, so that
// keys sort as offsets do.
func ObjectKey(topic string, partition int32, offset int64) string {
	return fmt.Sprintf("%s/%d/%020d", topic, partition, offset)
}
