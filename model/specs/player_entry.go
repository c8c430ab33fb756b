package specs

import "github.com/hopcheck/hopcheck/model/check"

// Mistakes that a player can be given.
const (
	notIdempotent     = "not-idempotent"
	errorIsFailure    = "error-is-failure"
	newID             = "new-id"
	cancelledSequence = "cancelled-sequence"
)

func init() {
	register(protocol[PlayerState]{
		Entry: Entry{
			Name: "player",
			Says: "an application's events into a topic, by an idempotent producer",
			Promises: []string{
				"Every attempt that was acknowledged is in the log.",
				"There is no append that no send asked for.",
				"Every copy of an event carries the id that it was given first.",
				"What the application was told is not done is not in the log, and never will be.",
				"When all is quiet, the application was told of every event that it is done.",
			},
			Params: []Param{
				{"events", "events that the application asks for", 3, 2, 1, 4},
				{"crashes", "kills of the player", 1, 1, 0, 9},
				{"lost", "requests or answers that are lost", 2, 1, 0, 9},
				{"timeouts", "records and sends that are given up", 1, 1, 0, 9},
				{"refusals", "records that the broker refuses for good", 1, 1, 0, 9},
			},
			Bugs: []Bug{
				{notIdempotent, "requests carry no sequence numbers", "not-idempotent", nil},
				{errorIsFailure, "who has no answer tells the application: not done",
					"error-is-failure", nil},
				{newID, "an event that is sent again gets another id", "new-id", nil},
				// The client is what numbers records, so no program of ours can do it.
				{cancelledSequence,
					"a record is cancelled after it was written, and the next one takes its number",
					"", nil},
			},
			Conform: conformPlayer,
			Untold:  []string{"refuse"}, // a write that fails for good
		},
		build: func(v Values, bug string) check.Spec[PlayerState] {
			return newPlayer(v, bug).spec()
		},
		say:   sayPlayer,
		show:  (*PlayerState).String,
		class: classOfPlayer,
		lift:  liftPlayer,
	})
}
