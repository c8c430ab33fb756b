package bus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/hops"
)

// Generate returns n values of progress records as a player's day brings them:
// resends of an earlier event, values that the contract rejects, text beyond
// ASCII, and times out of order. The same rng gives the same values.
func Generate(rng *rand.Rand, n int) [][]byte {
	var values [][]byte
	for i := range n {
		// One of each at a fixed place: a day without a resend or a reject would hide
		// what becomes of them.
		switch at := rng.IntN(20); {
		case i > 0 && (at < 2 || i == n/2):
			values = append(values, values[rng.IntN(i)])
		case at == 2 || i == n/3:
			values = append(values, broken(rng, i))
		default:
			values = append(values, Marshal(Event(rng, i)))
		}
	}
	return values
}

// Learners and Courses are who learns what. Do not change them.
var (
	Learners = []string{"ada", "grace", "åsa", "лев", "美咲", "noor", "zoë", "tim"}
	Courses  = []string{"go-101", "kafka-201", "données-301", "統計-101"}
)

var epoch = time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC)

// Event makes one event; its id says which it is, so that a history reads well.
func Event(rng *rand.Rand, i int) hops.Progress {
	late := time.Duration(rng.IntN(600)-300) * time.Second
	return hops.Progress{
		EventID:    fmt.Sprintf("ev-%03d-%04x", i, rng.Uint32()&0xffff),
		LearnerID:  Learners[rng.IntN(len(Learners))],
		CourseID:   Courses[rng.IntN(len(Courses))],
		LessonID:   "lesson-" + strconv.Itoa(1+rng.IntN(40)),
		PositionS:  int64(rng.IntN(3600)),
		OccurredAt: epoch.Add(time.Duration(i)*time.Minute + late),
	}
}

// broken makes a value that the contract rejects.
func broken(rng *rand.Rand, i int) []byte {
	e := Event(rng, i)
	switch rng.IntN(4) {
	case 0:
		return fmt.Appendf(nil, "not json, number %d\xff", i)
	case 1:
		e.PositionS = -1
	case 2:
		e.CourseID = ""
	case 3:
		return []byte(`{"event_id":"` + e.EventID + `","learner_id":"` + e.LearnerID +
			`","course_id":"go-101","lesson_id":"lesson-1","position_s":1,"occurred_at":"noon"}`)
	}
	return Marshal(e)
}

// Marshal returns the value of an event; one that does not encode panics.
func Marshal(e hops.Progress) []byte {
	value, err := e.Value()
	if err != nil {
		panic("bus: a generated event does not encode: " + err.Error())
	}
	return value
}

// KeyOf returns the key that a producer would give a value: the learner, or none
// where the value does not say.
func KeyOf(value []byte) []byte {
	var e struct {
		LearnerID string `json:"learner_id"`
	}
	if json.Unmarshal(value, &e) != nil || e.LearnerID == "" {
		return nil
	}
	return []byte(e.LearnerID)
}
