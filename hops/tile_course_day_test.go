//go:build synctests

package hops

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCourseDays(t *testing.T) {
	for name, change := range map[string]func(*LandingConfig){
		"record": records, "block": blocks(3, time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 2, func(t *testing.T, w *world) {
				value := func(id, course string, hour int) string {
					e := event(id)
					e.CourseID = course
					e.OccurredAt = time.Date(2026, 3, 1, hour, 0, 0, 0, time.FixedZone("", -3600))
					return string(mustValue(t, e))
				}
				w.append(0, value("e1", "go-101", 8), value("e1", "go-101", 8), "not JSON",
					value("e2", "go-101", 8), value("e3", "art-1", 22))
				w.append(1, value("e1", "go-101", 8), value("e4", "art-1", 23))
				if err := w.landAndStop(change); err != nil {
					t.Fatal(err)
				}
				days, err := CourseDays(t.Context(), w.store, topic)
				want := []CourseDay{
					{"art-1", "2026-03-01", 1, 1}, {"art-1", "2026-03-02", 1, 1},
					{"go-101", "2026-03-01", 4, 2},
				}
				if diff := cmp.Diff(want, days); diff != "" || err != nil {
					t.Fatal(err, diff)
				}
				if r, l := days[2].ResendRate(), days[2].LinesPerEvent(); r != 0.5 || l != 2 {
					t.Errorf("resend rate %v, lines per event %v", r, l)
				}
			})
		})
	}
}

func TestCourseDaysRefuses(t *testing.T) {
	good := Line{Offset: 1, Timestamp: 1, Key: []byte("ada"), Value: mustValue(t, event("e1"))}
	bad := Line{Offset: 1, Timestamp: 1, Key: []byte("ada"), Value: []byte("not JSON")}
	hole := Line{Offset: 0, Hole: true}
	for _, test := range []struct {
		key, body, want string
	}{
		{ObjectKey(topic, 0, 1), string(AppendBody(nil, bad)), "offset 1: contract: not-json"},
		{ObjectKey(topic, 0, 1), string(AppendBody(nil, good))[:50], "newline"},
		{ObjectKey(topic, 0, 0), string(AppendBody(nil, hole, good)), "overlap"},
		{ObjectKey(topic, 0, 2), string(AppendBody(nil, good)), "overlap"},
		{topic + "/README", "", "not an object of landing's"},
		{topic + "/0/1", "", "not an object of landing's"},
	} {
		store := newMemoryStore()
		store.set(ObjectKey(topic, 0, 1), AppendBody(nil, good))
		store.set(test.key, []byte(test.body))
		_, err := CourseDays(t.Context(), store, topic)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.key, err, test.want)
		}
	}
}
