package bus

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Identify says what the bus calls a record: the event id, the source_lsn of a change,
// or the digest where a value has neither; and for a dead letter where it came from.
func Identify(r tap.Raw) (string, model.Position) {
	var e struct {
		EventID   string `json:"event_id"`
		SourceLSN string `json:"source_lsn"` // of a change of enrollment
	}
	id := ""
	if json.Unmarshal(r.Value, &e) == nil {
		id = cmp.Or(e.EventID, e.SourceLSN)
	}
	if id == "" {
		id = tap.Digest(r.Value)
	}
	return id, origin(r.Headers)
}

// CourseAndTime returns what an accepted event says of itself.
func CourseAndTime(value []byte) (course string, at time.Time) {
	var e struct {
		CourseID   string    `json:"course_id"`
		OccurredAt time.Time `json:"occurred_at"`
	}
	_ = json.Unmarshal(value, &e) // the contract has accepted it
	return e.CourseID, e.OccurredAt.UTC()
}

// origin reads the headers of a dead letter; the zero position without them.
func origin(headers []tap.Header) model.Position {
	var p model.Position
	for _, h := range headers {
		switch h.Key {
		case hops.HeaderTopic:
			p.Topic = string(h.Value)
		case hops.HeaderPartition:
			n, _ := strconv.ParseInt(string(h.Value), 10, 32)
			p.Partition = int32(n)
		case hops.HeaderOffset:
			p.Offset, _ = strconv.ParseInt(string(h.Value), 10, 64)
		}
	}
	return p
}

// Classify says why the contract rejects a record of the bus, and counts nothing.
func Classify(r tap.Raw) (class, cell string) {
	if r.Topic != Progress {
		return "", ""
	}
	var reject *hops.Reject
	if errors.As(hops.Classify(r.Key, r.Value), &reject) {
		return reject.Reason, ""
	}
	return "", ""
}

// OutcomeOf reads a player's error as the history does.
func OutcomeOf(err error) model.Outcome {
	if err == nil {
		return model.Done
	}
	var send *hops.SendError
	if errors.As(err, &send) && send.Outcome == hops.NotDone {
		return model.NotDone
	}
	return model.Unknown
}
