//go:build synctests

package hops

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEnrollment(t *testing.T) {
	const right = `{"learner_id":"ada","course_id":"go-101","op":"enrolled",` +
		`"source_lsn":"00000000016B3748/00000001"}`
	for name, test := range map[string]struct{ key, value, want string }{
		"right":       {"ada/go-101", right, ""},
		"more fields": {"ada/go-101", strings.Replace(right, "{", `{"by":"eve",`, 1), ""},
		"no JSON":     {"ada/go-101", "enrolled", ReasonNotJSON},
		"null":        {"ada/go-101", "null", ReasonNotJSON},
		"tombstone":   {"ada/go-101", "", ReasonNotJSON},
		"no op":       {"ada/go-101", strings.Replace(right, "op", "o", 1), ReasonMissingField},
		"number":      {"ada/go-101", strings.Replace(right, `"ada"`, "7", 1), ReasonBadField},
		"another op":  {"ada/go-101", strings.Replace(right, "enrolled", "asked", 1), ReasonBadOp},
		"lower case":  {"ada/go-101", strings.Replace(right, "B", "b", 1), ReasonBadLSN},
		"short LSN":   {"ada/go-101", strings.Replace(right, "00000001\"", "1\"", 1), ReasonBadLSN},
		"another key": {"ada/go-102", right, ReasonWrongKey},
		"slash":       {"ada/b/go-101", strings.Replace(right, "ada", "ada/b", 1), ReasonBadField},
		"too large":   {"ada/go-101", right + strings.Repeat(" ", MaxValueBytes), ReasonTooLarge},
	} {
		change, err := ParseEnrollment([]byte(test.key), []byte(test.value))
		reason := ""
		var reject *Reject
		if errors.As(err, &reject) {
			reason = reject.Reason
		}
		if reason != test.want || (err == nil) != (test.want == "") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err == nil && name == "right" && string(mustEnrollment(t, change)) != right {
			t.Errorf("%+v is not %s", change, right)
		}
	}
}

func TestCohortSnapshotApply(t *testing.T) {
	s := NewCohortSnapshot(enrollments, 0)
	for i, step := range []struct {
		learner, op string
		lsn         int
		news        bool
		seats       int64
	}{
		{"ada", OpEnrolled, 2, true, 1},
		{"ada", OpEnrolled, 2, false, 1}, // published again
		{"ada", OpDropped, 2, false, 1},  // an equal LSN is a copy, whatever it says
		{"ada", OpDropped, 1, false, 1},  // older
		{"bob", OpEnrolled, 3, true, 2},
		{"ada", OpEnrolled, 4, true, 2}, // enrolled, and now once more
		{"ada", OpDropped, 6, true, 1},
		{"ada", OpDropped, 6, false, 1},
		{"ada", OpEnrolled, 4, false, 1}, // a copy of before it dropped
		{"ada", OpDropped, 7, true, 1},
		{"eve", OpDropped, 8, true, 1}, // was never enrolled, as far as we know
		{"eve", OpEnrolled, 5, false, 1},
		{"bob", OpDropped, 9, true, 0},
		{"bob", OpEnrolled, 10, true, 1},
	} {
		news := s.Apply(Enrollment{step.learner, "go-101", step.op, lsnOf(step.lsn)})
		if news != step.news || s.Seats["go-101"] != step.seats {
			t.Errorf("step %d: %t, %d seats, want %+v", i, news, s.Seats["go-101"], step)
		}
	}
}

// Under any duplicates and any order of the copies, as long as the first copies of
// a key are in order or not: the greatest LSN wins.
func TestCohortSnapshotAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var changes []Enrollment
		for i := range 12 {
			changes = append(changes, Enrollment{
				[]string{"ada", "bob", "eve"}[rng.IntN(3)], []string{"go", "c"}[rng.IntN(2)],
				[]string{OpEnrolled, OpDropped}[rng.IntN(2)], lsnOf(i),
			})
		}
		want := NewCohortSnapshot(enrollments, 0)
		for _, change := range changes {
			want.Latest[string(change.Key())] = change
		}
		for _, change := range want.Latest {
			want.seat(change.CourseID, taken(change))
		}
		copies := append(slices.Clone(changes), changes...)
		rng.Shuffle(len(copies), func(i, j int) { copies[i], copies[j] = copies[j], copies[i] })
		got := NewCohortSnapshot(enrollments, 0)
		for _, change := range copies {
			got.Apply(change)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v: %s", copies, diff)
		}
	}
}

func TestCohortSnapshotText(t *testing.T) {
	s := NewCohortSnapshot(enrollments, 3)
	s.Next, s.Skipped = 9, 1
	s.Apply(Enrollment{"bob", "go-101", OpEnrolled, lsnOf(0)})
	s.Apply(Enrollment{"ada", "go-101", OpEnrolled, lsnOf(1)})
	s.Apply(Enrollment{"ada", "c", OpDropped, lsnOf(2)})
	body, err := AppendCohortSnapshot(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"topic":"learning.enrollment","partition":3,"next":9,"skipped":1,` +
		`"seats":{"go-101":2},"latest":[` +
		`{"learner_id":"ada","course_id":"c","op":"dropped",` +
		`"source_lsn":"0000000000001010/00000001"},` +
		`{"learner_id":"ada","course_id":"go-101","op":"enrolled",` +
		`"source_lsn":"0000000000001000/00000002"},` +
		`{"learner_id":"bob","course_id":"go-101","op":"enrolled",` +
		`"source_lsn":"0000000000001000/00000001"}]}` + "\n"
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
	again, err := ParseCohortSnapshot(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "{}", "null", string(body[:40]), string(body) + " ",
		strings.Replace(string(body), "bob", "abe", 1)} {
		if _, err := ParseCohortSnapshot([]byte(bad)); err == nil {
			t.Errorf("reads %q", bad)
		}
	}
}
