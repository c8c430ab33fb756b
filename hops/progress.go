package hops

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// MaxValueBytes is the largest record value, in bytes, that the contract takes.
const MaxValueBytes = 64 << 10

// Progress is one observation: a learner was at a position of a lesson.
//
// EventID is minted once per observation, before the first attempt to publish
// it, and never changes afterwards: it is what lets a reader tell a resend from
// a second observation. PositionS is in seconds. OccurredAt is the learner's
// clock, in RFC 3339 on the wire.
type Progress struct {
	EventID    string    `json:"event_id"`
	LearnerID  string    `json:"learner_id"`
	CourseID   string    `json:"course_id"`
	LessonID   string    `json:"lesson_id"`
	PositionS  int64     `json:"position_s"`
	OccurredAt time.Time `json:"occurred_at"`
}

// NewEventID returns a random (version 4) UUID in its usual text form. It is
// safe for concurrent use.
func NewEventID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to return an error
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Key returns the record key: the learner, so that one learner's events share a
// partition and keep their order.
func (p Progress) Key() []byte { return []byte(p.LearnerID) }

// Value returns the record value: the event as one line of JSON. It fails only
// for a time whose year RFC 3339 cannot write.
func (p Progress) Value() ([]byte, error) {
	value, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", p.EventID, err)
	}
	return value, nil
}

// Reasons of a [Reject]. They are stored (object bodies, dead-letter headers),
// so they never change their spelling.
const (
	ReasonTooLarge         = "too-large"         // value over MaxValueBytes
	ReasonNotJSON          = "not-json"          // not one JSON object in UTF-8
	ReasonMissingField     = "missing-field"     // absent, null or empty
	ReasonBadField         = "bad-field"         // present, of the wrong JSON type
	ReasonBadTime          = "bad-time"          // occurred_at is not RFC 3339
	ReasonNegativePosition = "negative-position" // position_s below zero
	ReasonWrongKey         = "wrong-key"         // record key is not learner_id
)

// Reject is the error of [Classify]: the contract refuses this record, for good.
// Reason is one of the Reason constants; Field names the JSON field at fault,
// when one is.
type Reject struct {
	Reason string
	Field  string
}

// Error names the reason and the field, if there is one.
func (r *Reject) Error() string {
	if r.Field == "" {
		return "contract: " + r.Reason
	}
	return "contract: " + r.Reason + ": " + r.Field
}

// Classify holds one record of the progress topic against the contract. It
// returns nil to accept, or a [*Reject]. The answer depends on the bytes alone,
// so that every rerun sorts the same record the same way. Unknown fields are
// accepted: producers add fields before readers know them.
func Classify(key, value []byte) error {
	if len(value) > MaxValueBytes {
		return &Reject{Reason: ReasonTooLarge}
	}
	// encoding/json replaces bad UTF-8 silently; the contract does not.
	if !utf8.Valid(value) {
		return &Reject{Reason: ReasonNotJSON}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields == nil {
		return &Reject{Reason: ReasonNotJSON}
	}
	texts := make(map[string]string, 5)
	for _, name := range []string{
		"event_id", "learner_id", "course_id", "lesson_id", "occurred_at",
	} {
		text, reject := textField(fields, name)
		if reject != nil {
			return reject
		}
		texts[name] = text
	}
	if reject := position(fields); reject != nil {
		return reject
	}
	if _, err := time.Parse(time.RFC3339, texts["occurred_at"]); err != nil {
		return &Reject{Reason: ReasonBadTime, Field: "occurred_at"}
	}
	if string(key) != texts["learner_id"] {
		return &Reject{Reason: ReasonWrongKey, Field: "learner_id"}
	}
	return nil
}

func textField(fields map[string]json.RawMessage, name string) (string, *Reject) {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return "", &Reject{Reason: ReasonMissingField, Field: name}
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", &Reject{Reason: ReasonBadField, Field: name}
	}
	if text == "" {
		return "", &Reject{Reason: ReasonMissingField, Field: name}
	}
	return text, nil
}

func position(fields map[string]json.RawMessage) *Reject {
	const name = "position_s"
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return &Reject{Reason: ReasonMissingField, Field: name}
	}
	var seconds int64
	if json.Unmarshal(raw, &seconds) != nil {
		return &Reject{Reason: ReasonBadField, Field: name}
	}
	if seconds < 0 {
		return &Reject{Reason: ReasonNegativePosition, Field: name}
	}
	return nil
}
