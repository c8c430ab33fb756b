package specs_test

import (
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// TestShortestCounterexamples pins down what each mistake breaks and in how many steps:
// a specification that allows less, or more, has others.
func TestShortestCounterexamples(t *testing.T) {
	for _, c := range []struct {
		spec, bug string
		steps     int
		broken    string
	}{
		{"tile", "sink-log-first", 6, "parts of batch 0 that are not stored"},
		{"tile", "replan", 16, "offset 1 is committed, and no part"},
		{"tile", "delete-first", 11, "batch 0 was in the sink log, and no reader"},
		{"tile", "commits-log-first", 7, "offset 0 is committed, and no part"},
		{"tile", "restart-at-zero", 17, "offset 1 is committed, and no part"},
		{"tile", "exists-is-mine", 10, "two runs take the same entry"},
		{"tile", "put-over", 13, "put over another run's"},
		{"enrollment", "last-id", 12, "is never published"},
		{"enrollment", "mark-first", 4, "change 0 is marked as published, and is not"},
		{"enrollment", "confirm-first", 5, "change 0 is confirmed, and is not"},
		{"enrollment", "row-lsn", 10, "the fold has change 0, and the topic change 1"},
		{"enrollment", "equal-applied", 7, "has changed a count once more"},
	} {
		t.Run(c.spec+"/"+c.bug, func(t *testing.T) {
			e, err := specs.Named(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Check(nil, c.bug, check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Steps) != c.steps || !strings.Contains(r.Broken, c.broken) {
				t.Errorf("%d steps to %q, want %d to %q:\n%s", len(r.Steps), r.Broken, c.steps,
					c.broken, lines(r.Steps))
			}
		})
	}
}
