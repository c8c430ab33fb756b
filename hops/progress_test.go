package hops

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is an observation that the contract accepts.
func event(id string) Progress {
	return Progress{
		EventID: id, LearnerID: "ada", CourseID: "go-101", LessonID: "41",
		PositionS: 90, OccurredAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}
}

func mustValue(t testing.TB, p Progress) []byte {
	t.Helper()
	value, err := p.Value()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestClassify(t *testing.T) {
	good := string(mustValue(t, event("e1")))
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	longest := swap(`"lesson_id":"41"`,
		`"lesson_id":"`+strings.Repeat("x", MaxValueBytes-len(good)+2)+`"`)
	for _, test := range []struct {
		name, value string
		want        *Reject
	}{
		{"accepted", good, nil},
		{"unknown field", swap(`{`, `{"device":"tv",`), nil},
		{"position zero", swap(`:90`, `:0`), nil},
		{"64 KiB", longest, nil},
		{"64 KiB and a byte", longest + " ", &Reject{ReasonTooLarge, ""}},
		{"empty", "", &Reject{ReasonNotJSON, ""}},
		{"null", "null", &Reject{ReasonNotJSON, ""}},
		{"array", "[]", &Reject{ReasonNotJSON, ""}},
		{"two values", good + good, &Reject{ReasonNotJSON, ""}},
		{"bad UTF-8", swap(`go-101`, "go-\xff"), &Reject{ReasonNotJSON, ""}},
		{"no event_id", swap(`"event_id":"e1",`, ``), &Reject{ReasonMissingField, "event_id"}},
		{"null course_id", swap(`"go-101"`, `null`), &Reject{ReasonMissingField, "course_id"}},
		{"empty lesson_id", swap(`"41"`, `""`), &Reject{ReasonMissingField, "lesson_id"}},
		{"number lesson_id", swap(`"41"`, `41`), &Reject{ReasonBadField, "lesson_id"}},
		{"no position_s", swap(`"position_s":90,`, ``), &Reject{ReasonMissingField, "position_s"}},
		{"half a second", swap(`:90`, `:0.5`), &Reject{ReasonBadField, "position_s"}},
		{"negative", swap(`:90`, `:-1`), &Reject{ReasonNegativePosition, "position_s"}},
		{"day only", swap(`T08:00:00Z`, ``), &Reject{ReasonBadTime, "occurred_at"}},
		{"other key", swap(`"ada"`, `"bob"`), &Reject{ReasonWrongKey, "learner_id"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got *Reject
			if err := Classify([]byte("ada"), []byte(test.value)); err != nil {
				if !errors.As(err, &got) {
					t.Fatalf("error %v is no Reject", err)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewEventID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 1000 {
		id := NewEventID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%q is malformed or was seen before", id)
		}
		seen[id] = true
	}
}
