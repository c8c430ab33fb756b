package worlds

import (
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// copies counts records of a topic whose id stands there already.
func copies(topic string) props.Evidence {
	return props.Evidence{
		Name: "copies in " + topic,
		Count: func(h *model.History) int {
			n := 0
			seen := make(map[string]bool)
			audit := model.Audit(h)
			for _, part := range audit.Topic(topic) {
				for _, r := range part.Records {
					if r.Kind == model.Data && seen[r.ID] {
						n++
					}
					seen[r.ID] = true
				}
			}
			return n
		},
	}
}

// repeatedPuts counts applied puts of a key that was put before: repeats that the
// object's name absorbed.
func repeatedPuts() props.Evidence {
	return props.Evidence{
		Name: "repeated puts absorbed",
		Count: func(h *model.History) int {
			n := 0
			seen := make(map[string]bool)
			for _, p := range model.Puts(h) {
				if p.Applied && seen[p.Key] {
					n++
				}
				seen[p.Key] = true
			}
			return n
		},
	}
}

// abortedCopies counts records of aborted transactions: attempts that readers with
// read_committed never see.
func abortedCopies() props.Evidence {
	return props.Evidence{
		Name: "aborted records",
		Count: func(h *model.History) int {
			n := 0
			audit := model.Audit(h)
			for _, part := range audit.Topic(ValidatedTopic) {
				for _, r := range part.Records {
					if r.Kind == model.Aborted {
						n++
					}
				}
			}
			return n
		},
	}
}

// seenBy counts what the consumers of a reader process were handed.
func seenBy(process string) props.Evidence {
	return props.Evidence{
		Name: "seen by " + process,
		Count: func(h *model.History) int {
			n := 0
			for i := range h.Events() {
				e := &h.Events()[i]
				if e.Kind == model.Note && e.Op == "seen" &&
					strings.HasPrefix(e.Proc, process+"/") {
					n++
				}
			}
			return n
		},
	}
}

// reported adds up what the last note with an op counts of the things that match.
func reported(name, op string, match func(of string) bool) props.Evidence {
	return props.Evidence{
		Name: name,
		Count: func(h *model.History) int {
			var last []model.Count
			for i := range h.Events() {
				if e := &h.Events()[i]; e.Kind == model.Note && e.Op == op {
					last = e.Counts
				}
			}
			n := 0
			for _, c := range last {
				if match(c.Of) {
					n += int(c.N)
				}
			}
			return n
		},
	}
}

// courseDays are the two numbers of the morning model: their ratio is the resend rate.
func courseDays() []props.Evidence {
	ends := func(word string) func(string) bool {
		return func(of string) bool { return strings.HasSuffix(of, word) }
	}
	return []props.Evidence{
		reported("course_day lines", "course-day", ends(bus.LinesWord)),
		reported("course_day distinct ids", "course-day", ends(bus.DistinctWord)),
	}
}

// seats are how many are enrolled, by the database and by the fold.
func seats() []props.Evidence {
	return []props.Evidence{
		{
			Name: "enrolled in the database",
			Count: func(h *model.History) int {
				n := 0
				audit := model.Audit(h)
				for _, row := range audit.Rows {
					if row.Op == hops.OpEnrolled {
						n++
					}
				}
				return n
			},
		},
		reported("seats in the fold", "cohort", func(of string) bool {
			return strings.HasPrefix(of, seatsOf)
		}),
	}
}

// tileCounts counts what the last reader of the tile read.
func tileCounts() props.Evidence {
	return reported("records in the tile", "tile-read", func(string) bool { return true })
}
