package worlds

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// makeChange makes the change that an ask is about.
func makeChange(ctx context.Context, r *hops.Registrar, ask sim.Ask) error {
	learner, course, _ := strings.Cut(string(ask.Key), "/")
	op, first := strings.CutSuffix(string(ask.Value), publishFirst)
	return r.Enroll(ctx, learner, course, op, first)
}

// OutcomeOfChange reads a registrar's error as the history does.
func OutcomeOfChange(err error) model.Outcome {
	var change *hops.ChangeError
	switch {
	case err == nil:
		return model.Done
	case errors.As(err, &change) && change.Outcome == hops.NotDone:
		return model.NotDone
	}
	return model.Unknown
}

// enrollmentCell says what a record of the enrollment topic did.
func enrollmentCell(r tap.Raw) (class, cell string) {
	if r.Topic != EnrollmentTopic {
		return "", ""
	}
	change, err := hops.ParseEnrollment(r.Key, r.Value)
	var reject *hops.Reject
	if errors.As(err, &reject) {
		return reject.Reason, ""
	}
	return "", change.Op
}

// Words in what a cohort counts.
const (
	seatsOf    = "seats "
	enrolledOf = "enrolled "
	skippedOf  = "skipped"
)

// DescribeCohort says what a snapshot of the fold holds: how far it has read, the last
// change of each key, and the seats of each course.
func DescribeCohort(key string, body []byte) ([]model.Part, []model.Count) {
	if !strings.HasPrefix(key, CohortPrefix+"/") {
		return nil, nil
	}
	s, err := hops.ParseCohortSnapshot(body)
	if err != nil {
		return nil, nil
	}
	part := model.PartOf(s.Topic, s.Partition)
	part.Offset = s.Next
	for _, key := range slices.Sorted(maps.Keys(s.Latest)) {
		change := s.Latest[key]
		part.Records = append(part.Records, model.Record{
			Offset: -1, ID: change.SourceLSN, Key: key, Cell: change.Op,
		})
	}
	counts := seatCounts(s.Seats)
	counts = append(counts, model.Count{Of: skippedOf, N: s.Skipped})
	return []model.Part{part}, counts
}

func seatCounts(seats map[string]int64) []model.Count {
	var counts []model.Count
	for _, course := range slices.Sorted(maps.Keys(seats)) {
		counts = append(counts, model.Count{Of: seatsOf + course, N: seats[course]})
	}
	return counts
}

// ReadCohortOnce reads the fold and reports the seats of each course and who is
// enrolled.
func ReadCohortOnce(ctx context.Context, env sim.Env) error {
	state, err := hops.ReadCohort(ctx, env.Objects, CohortPrefix)
	if err != nil {
		return err
	}
	counts := seatCounts(state.Seats)
	for _, change := range state.Latest {
		c := model.Count{Of: enrolledOf + string(change.Key())}
		if change.Op == hops.OpEnrolled {
			c.N = 1
		}
		counts = append(counts, c)
	}
	env.Report("cohort", counts, "")
	return nil
}

// folded reports whether the snapshots of the fold have read all of the topic.
func folded(v *model.View) bool {
	for p := range int32(partitions) {
		o, ok := v.Object(CohortPrefix + "/" + strconv.Itoa(int(p)))
		next := int64(0)
		if ok && len(o.Parts) == 1 {
			next = o.Parts[0].Offset
		}
		if next < v.End(EnrollmentTopic, p) {
			return false
		}
	}
	return true
}
