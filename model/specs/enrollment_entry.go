package specs

import "github.com/hopcheck/hopcheck/model/check"

// Mistakes that the enrollment hop can be given.
const (
	lastID       = "last-id"
	markFirst    = "mark-first"
	confirmFirst = "confirm-first"
	rowLSN       = "row-lsn"
	equalApplied = "equal-applied"
)

func init() {
	outbox, log := map[string]int{"log": 0}, map[string]int{"log": 1}
	register(protocol[EnrollmentState]{
		Entry: Entry{
			Name: "enrollment",
			Says: "a database's changes into a topic, by an outbox or by the log, and their fold",
			Promises: []string{
				"What is marked or confirmed is in the topic.",
				"The first copies of a key's changes are in the topic in the order of its commits.",
				"The fold has the last change of each key that the topic has.",
				"A copy of a change changes no count.",
				"When all is quiet, every committed change is in the topic, and known to be.",
			},
			Params: []Param{
				{"changes", "changes that commit", 4, 3, 1, 6},
				{"keys", "learners' courses that they are about", 2, 2, 1, 3},
				{"log", "0: pollers of the outbox; 1: publishers of the log; 2: either", 2, 2, 0,
					2},
				{"publishers", "publishers of one outbox, or of one slot", 2, 2, 1, MaxPublishers},
				{"batch", "rows of a claim, or changes in flight", 2, 2, 1, 6},
				{"crashes", "kills of a publisher", 1, 1, 0, 9},
				{"servers", "kills of the database server", 1, 1, 0, 9},
				{"lost", "calls that fail, or whose answers are lost", 1, 1, 0, 9},
				{"late", "requests that arrive when their producer is gone", 0, 1, 0, 9},
			},
			Bugs: []Bug{
				{lastID, "rows are read above the last id that was published", "last-id",
					map[string]int{"log": 0, "publishers": 1, "changes": 3}},
				{markFirst, "rows are marked before their changes are acknowledged", "mark-first",
					outbox},
				{confirmFirst, "what the log has handed out is confirmed", "confirm-sent", log},
				{rowLSN, "the fold goes by the position of the row, not of the commit", "row-lsn",
					log},
				{equalApplied, "the fold counts a change again that it has last", "equal-lsn",
					outbox},
			},
			Untold:  []string{"checkpoint"}, // a server says nothing of it
			Conform: conformEnrollment,
		},
		build: func(v Values, bug string) check.Spec[EnrollmentState] {
			return newEnrollment(v, bug).spec()
		},
		say:   sayEnrollment,
		show:  (*EnrollmentState).String,
		class: classOfEnrollment,
		lift:  liftEnrollment,
	})
}
