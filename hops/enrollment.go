package hops

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What an [Alert] of the enrollment programs is about. Its Hop is "registrar",
// "poller", "log publisher", "cohort" or "slot monitor".
const (
	// AlertOutboxFailed says that a claim, a mark or a release of the outbox failed
	// too many times.
	AlertOutboxFailed = "outbox-failed"
	// AlertStreamFailed says that the change log cannot be streamed or confirmed.
	AlertStreamFailed = "stream-failed"
	// AlertStandby says that another publisher holds the slot, and this one waits.
	AlertStandby = "standby"
	// AlertPublishFailed says that changes were not acknowledged, too many times in
	// a row. They are lag, and stay in the database.
	AlertPublishFailed = "publish-failed"
	// AlertSlotGone says that the slot lost changes; see [SlotLostError].
	AlertSlotGone = "slot-gone"
	// AlertSkipped says that a record of the topic is no change, and was passed over.
	AlertSkipped = "skipped"
	// AlertConflict says that two cohorts write the same snapshots.
	AlertConflict = "conflict"
	// AlertSnapshotFailed says that a snapshot could not be read or written.
	AlertSnapshotFailed = "snapshot-failed"
)

// What happened to an enrollment: the op of a change.
const (
	OpEnrolled = "enrolled"
	OpDropped  = "dropped"
)

// Enrollment is one change of one enrollment, as its topic carries it.
//
// Op is OpEnrolled or OpDropped. SourceLSN says where in the database's log the
// change is: 16 upper-case hex digits of the LSN, a slash, and 8 hex digits of the
// position inside the transaction, "00000000016B3748/00000001". Compared as text it
// orders the changes of one key as the database committed them.
type Enrollment struct {
	LearnerID string `json:"learner_id"`
	CourseID  string `json:"course_id"`
	Op        string `json:"op"`
	SourceLSN string `json:"source_lsn"`
}

// Key returns the record key, learner/course, so that the changes of one
// enrollment share a partition. A learner's id has no slash, so that no two
// enrollments share a key.
func (e Enrollment) Key() []byte { return []byte(e.LearnerID + "/" + e.CourseID) }

// Value returns the record value: the change as one line of JSON.
func (e Enrollment) Value() ([]byte, error) {
	value, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding the change of %s: %w", e.Key(), err)
	}
	return value, nil
}

// Reasons of a [Reject] by [ParseEnrollment], besides those of [Classify].
const (
	ReasonBadOp  = "bad-op"  // neither OpEnrolled nor OpDropped
	ReasonBadLSN = "bad-lsn" // source_lsn has not the form that sorts
)

var lsnForm = regexp.MustCompile(`^[0-9A-F]{16}/[0-9A-F]{8}$`)

// ParseEnrollment reads one record of the enrollment topic. The error is a
// [*Reject]. The answer depends on the bytes alone, so that every rerun folds the
// same records. Unknown fields are accepted.
func ParseEnrollment(key, value []byte) (Enrollment, error) {
	if len(value) > MaxValueBytes {
		return Enrollment{}, &Reject{Reason: ReasonTooLarge}
	}
	var fields map[string]json.RawMessage
	if !utf8.Valid(value) || json.Unmarshal(value, &fields) != nil || fields == nil {
		return Enrollment{}, &Reject{Reason: ReasonNotJSON}
	}
	var e Enrollment
	for _, field := range []struct {
		name string
		into *string
	}{
		{"learner_id", &e.LearnerID}, {"course_id", &e.CourseID},
		{"op", &e.Op}, {"source_lsn", &e.SourceLSN},
	} {
		text, reject := textField(fields, field.name)
		if reject != nil {
			return Enrollment{}, reject
		}
		*field.into = text
	}
	switch {
	case strings.Contains(e.LearnerID, "/"):
		return Enrollment{}, &Reject{Reason: ReasonBadField, Field: "learner_id"}
	case e.Op != OpEnrolled && e.Op != OpDropped:
		return Enrollment{}, &Reject{Reason: ReasonBadOp, Field: "op"}
	case !lsnForm.MatchString(e.SourceLSN):
		return Enrollment{}, &Reject{Reason: ReasonBadLSN, Field: "source_lsn"}
	case string(key) != string(e.Key()):
		return Enrollment{}, &Reject{Reason: ReasonWrongKey}
	}
	return e, nil
}
