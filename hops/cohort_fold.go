package hops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// CohortSnapshot is the fold of one partition of the enrollment topic: who is
// enrolled, and from which offset on to read further. It is not safe for concurrent
// use.
type CohortSnapshot struct {
	Topic     string
	Partition int32
	// Next is the offset after the last record that is folded in.
	Next int64
	// Skipped counts the records below Next that were no changes.
	Skipped int64
	// Seats counts the enrolled learners of each course that has any. It is kept
	// change by change.
	Seats map[string]int64
	// Latest holds the change with the greatest SourceLSN of each key, also those
	// that dropped: without them an older copy that comes late would enroll again.
	Latest map[string]Enrollment
}

// NewCohortSnapshot returns the fold of nothing.
func NewCohortSnapshot(topic string, partition int32) *CohortSnapshot {
	return &CohortSnapshot{
		Topic: topic, Partition: partition,
		Seats: make(map[string]int64), Latest: make(map[string]Enrollment),
	}
}

// Apply folds one change in and says whether it was news. A change whose SourceLSN
// is not greater than that of the last one of its key changes nothing: it is a copy,
// or an older change that was published again.
func (s *CohortSnapshot) Apply(change Enrollment) bool {
	key := string(change.Key())
	last, known := s.Latest[key]
	if known && change.SourceLSN <= last.SourceLSN {
		return false
	}
	s.Latest[key] = change
	s.seat(change.CourseID, taken(change)-taken(last))
	return true
}

// taken is how many seats a change stands for. Of no change it is none.
func taken(e Enrollment) int64 {
	if e.Op == OpEnrolled {
		return 1
	}
	return 0
}

func (s *CohortSnapshot) seat(course string, more int64) {
	if s.Seats[course] += more; s.Seats[course] == 0 {
		delete(s.Seats, course)
	}
}

// cohortObject is a snapshot as it is stored.
type cohortObject struct {
	Topic     string           `json:"topic"`
	Partition int32            `json:"partition"`
	Next      int64            `json:"next"`
	Skipped   int64            `json:"skipped"`
	Seats     map[string]int64 `json:"seats"`
	Latest    []Enrollment     `json:"latest"`
}

// AppendCohortSnapshot appends a snapshot as it is stored to b: JSON, the changes
// ordered by key. The same fold gives the same bytes.
func AppendCohortSnapshot(b []byte, s *CohortSnapshot) ([]byte, error) {
	object := cohortObject{s.Topic, s.Partition, s.Next, s.Skipped, s.Seats, []Enrollment{}}
	for _, key := range slices.Sorted(maps.Keys(s.Latest)) {
		object.Latest = append(object.Latest, s.Latest[key])
	}
	body, err := json.Marshal(object) // of a map the keys are sorted
	if err != nil {
		return b, fmt.Errorf("encoding the snapshot of %s/%d: %w", s.Topic, s.Partition, err)
	}
	return append(append(b, body...), '\n'), nil
}

// ParseCohortSnapshot reads what [AppendCohortSnapshot] wrote.
func ParseCohortSnapshot(body []byte) (*CohortSnapshot, error) {
	var object cohortObject
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, fmt.Errorf("reading a snapshot: %w", err)
	}
	s := NewCohortSnapshot(object.Topic, object.Partition)
	s.Next, s.Skipped = object.Next, object.Skipped
	maps.Copy(s.Seats, object.Seats)
	for _, change := range object.Latest {
		s.Latest[string(change.Key())] = change
	}
	// Also what a cut-off object or another program's would fail at.
	again, err := AppendCohortSnapshot(nil, s)
	if err == nil && !bytes.Equal(again, body) {
		err = errors.New("reading a snapshot: it is not as a cohort writes it")
	}
	return s, err
}
