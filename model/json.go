package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// jsonEvent is the JSON form of an [Event]. What it leaves out reads as in the
// text form: -1 for the offsets and the sequence of a part and the offset of a
// record, zero for everything else.
type jsonEvent struct {
	Seq        int64       `json:"seq"`
	AtNS       int64       `json:"at_ns"`
	Proc       jsonString  `json:"proc,omitempty"`
	Life       int         `json:"life,omitempty"`
	Kind       Kind        `json:"kind"`
	Op         jsonString  `json:"op,omitempty"`
	Nth        int         `json:"nth,omitempty"`
	Of         int64       `json:"of,omitempty"`
	Outcome    Outcome     `json:"outcome,omitempty"`
	Err        jsonString  `json:"err,omitempty"`
	Producer   int64       `json:"producer,omitempty"`
	Epoch      int16       `json:"epoch,omitempty"`
	Group      jsonString  `json:"group,omitempty"`
	Member     jsonString  `json:"member,omitempty"`
	Generation int32       `json:"generation,omitempty"`
	TxnID      jsonString  `json:"txn_id,omitempty"`
	Parts      []jsonPart  `json:"parts,omitempty"`
	Key        jsonString  `json:"key,omitempty"`
	Digest     jsonString  `json:"digest,omitempty"`
	ETag       jsonString  `json:"etag,omitempty"`
	Bytes      int64       `json:"bytes,omitempty"`
	LSN        jsonString  `json:"lsn,omitempty"`
	Counts     []jsonCount `json:"counts,omitempty"`
	Note       jsonString  `json:"note,omitempty"`
}

type jsonCount struct {
	Of jsonString `json:"of"`
	N  int64      `json:"n"`
}

type jsonPart struct {
	Topic     jsonString   `json:"topic"`
	Partition int32        `json:"partition"`
	Offset    *int64       `json:"offset,omitempty"`
	End       *int64       `json:"end,omitempty"`
	Stable    *int64       `json:"stable,omitempty"`
	Sequence  *int32       `json:"sequence,omitempty"`
	Err       jsonString   `json:"err,omitempty"`
	Records   []jsonRecord `json:"records,omitempty"`
}

type jsonRecord struct {
	Offset   *int64        `json:"offset,omitempty"`
	Kind     RecordKind    `json:"kind,omitempty"`
	ID       jsonString    `json:"id,omitempty"`
	Key      jsonString    `json:"key,omitempty"`
	Digest   jsonString    `json:"digest,omitempty"`
	Class    jsonString    `json:"class,omitempty"`
	Cell     jsonString    `json:"cell,omitempty"`
	From     *jsonPosition `json:"from,omitempty"`
	Producer int64         `json:"producer,omitempty"`
}

type jsonPosition struct {
	Topic     jsonString `json:"topic"`
	Partition int32      `json:"partition"`
	Offset    int64      `json:"offset"`
}

// jsonString is a string that survives JSON whatever its bytes are. JSON has no
// word for bytes that are not UTF-8, as a Kafka key may hold them, so those
// become the object {"base64": "..."}.
type jsonString string

func (s jsonString) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(s)) {
		b := append([]byte(`{"base64":"`), base64.StdEncoding.EncodeToString([]byte(s))...)
		return append(b, `"}`...), nil
	}
	const hexDigits = "0123456789abcdef"
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"'), nil
}

func (s *jsonString) UnmarshalJSON(b []byte) error {
	if b[0] == '"' || b[0] == 'n' { // a string or null
		return json.Unmarshal(b, (*string)(s))
	}
	var wrapped struct {
		Base64 *[]byte `json:"base64"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&wrapped); err != nil || wrapped.Base64 == nil {
		return fmt.Errorf(`%.40q is no string: "..." or {"base64": "..."} is`, b)
	}
	*s = jsonString(*wrapped.Base64)
	return nil
}

// MarshalJSON gives the same JSON as a line of [History.WriteJSONL].
func (e Event) MarshalJSON() ([]byte, error) { return json.Marshal(toJSON(&e)) }

// UnmarshalJSON reads what MarshalJSON wrote. It refuses unknown fields, kinds
// and outcomes.
func (e *Event) UnmarshalJSON(b []byte) error {
	read, err := parseJSON(b)
	if err == nil {
		*e = read
	}
	return err
}

// parseJSON reads one line of the JSON form.
func parseJSON(line []byte) (Event, error) {
	if !utf8.Valid(line) {
		return Event{}, errors.New("bytes that are not UTF-8: the file is binary or damaged")
	}
	var j jsonEvent
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return Event{}, atColumn(err)
	}
	if rest := bytes.TrimLeft(line[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return Event{}, fmt.Errorf("column %d: more after the end of the event",
			len(line)-len(rest)+1)
	}
	e := j.event()
	return e, e.check()
}

// atColumn puts the column in front of an error where it is known.
func atColumn(err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("column %d: %w", syntax.Offset, err)
	case errors.As(err, &typed) && typed.Field == "":
		return fmt.Errorf("a %s where an event, {...}, is wanted", typed.Value)
	case errors.As(err, &typed):
		return fmt.Errorf("column %d: a %s does not fit the field %q",
			typed.Offset, typed.Value, typed.Field)
	}
	return err
}

// check refuses an event that could be written but not read back.
func (e *Event) check() error {
	if !e.Kind.known() {
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	if !e.Outcome.known() {
		return fmt.Errorf("unknown outcome %q: done, not-done or unknown", e.Outcome)
	}
	for i := range e.Parts {
		for j := range e.Parts[i].Records {
			if k := e.Parts[i].Records[j].Kind; !k.known() {
				return fmt.Errorf("unknown record kind %q", k)
			}
		}
	}
	return nil
}
