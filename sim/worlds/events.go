package worlds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Topics of the bus.
const (
	Progress     = "learning.progress"
	ProgressDLQ  = "learning.progress.dlq"
	LandingGroup = "learning-progress-raw-landing"
)

// How much flows through a world, and how fast.
const (
	events     = 40
	partitions = 2
	burst      = 4 // events at one instant
	burstEvery = 900 * time.Millisecond
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
			values = append(values, marshal(event(rng, i)))
		}
	}
	return values
}

var (
	learners = []string{"ada", "grace", "åsa", "лев", "美咲", "noor", "zoë", "tim"}
	courses  = []string{"go-101", "kafka-201", "données-301", "統計-101"}
	epoch    = time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC)
)

// event makes one event; its id says which it is, so that a history reads well.
func event(rng *rand.Rand, i int) hops.Progress {
	late := time.Duration(rng.IntN(600)-300) * time.Second
	return hops.Progress{
		EventID:    fmt.Sprintf("ev-%03d-%04x", i, rng.Uint32()&0xffff),
		LearnerID:  learners[rng.IntN(len(learners))],
		CourseID:   courses[rng.IntN(len(courses))],
		LessonID:   "lesson-" + strconv.Itoa(1+rng.IntN(40)),
		PositionS:  int64(rng.IntN(3600)),
		OccurredAt: epoch.Add(time.Duration(i)*time.Minute + late),
	}
}

// broken makes a value that the contract rejects.
func broken(rng *rand.Rand, i int) []byte {
	e := event(rng, i)
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
	return marshal(e)
}

func marshal(e hops.Progress) []byte {
	value, err := e.Value()
	if err != nil {
		panic("worlds: a generated event does not encode: " + err.Error())
	}
	return value
}

// keyOf returns the key that a producer would give a value: the learner, or none
// where the value does not say.
func keyOf(value []byte) []byte {
	var e struct {
		LearnerID string `json:"learner_id"`
	}
	if json.Unmarshal(value, &e) != nil || e.LearnerID == "" {
		return nil
	}
	return []byte(e.LearnerID)
}

// inputs spreads values over virtual time, a burst at a time.
func inputs(values [][]byte) []sim.Input {
	in := make([]sim.Input, len(values))
	for i, v := range values {
		in[i] = sim.Input{
			At: time.Duration(i/burst) * burstEvery, Topic: Progress, Key: keyOf(v), Value: v,
		}
	}
	return in
}

// identify says what the bus calls a record: the event id, the source_lsn of a change,
// or the digest where a value has neither; and for a dead letter where it came from.
func identify(r tap.Raw) (string, model.Position) {
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

// courseAndTime returns what an accepted event says of itself.
func courseAndTime(value []byte) (course string, at time.Time) {
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

// brokerConfigs keeps sessions short, so that a run does not spend its virtual
// time waiting for the dead.
var brokerConfigs = map[string]string{
	"group.consumer.heartbeat.interval.ms": "3000",
	"group.consumer.session.timeout.ms":    "12000",
}
