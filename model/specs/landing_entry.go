package specs

import "github.com/hopcheck/hopcheck/model/check"

// Mistakes that landing can be given.
const (
	commitFirst     = "commit-first"
	pollNamed       = "range-from-poll"
	pastFailure     = "commit-past-failure"
	zombieOverwrite = "zombie-overwrite"
	commitLast      = "commit-last"
	ignoreLetter    = "dlq-error-ignored"
)

func init() {
	register(protocol[LandingState]{
		Entry: Entry{
			Name: "landing",
			Says: "a topic's partition into objects and dead letters, then the group's offset",
			Promises: []string{
				"Every offset below the group's is in an object or a dead letter, not in both.",
				"No offset is in two objects.",
				"The group's offset never moves backwards.",
				"When all is quiet, everything has been landed and committed.",
			},
			Params: []Param{
				{"records", "records in the partition", 5, 3, 1, 12},
				{"rejects", "how many of them the contract rejects: 1, 3, 5...", 1, 1, 0, 6},
				{"block", "offsets in an object; 0: one object per offset", 0, 0, 0, 12},
				{"members", "members of the group", 2, 2, 1, MaxLandingMembers},
				{"crashes", "kills of a member", 2, 1, 0, 9},
				{"stops", "times that a member is asked to end", 0, 1, 0, 9},
				{"pauses", "times that the group evicts a member that stands still", 1, 1, 0, 9},
				{"rebalances", "times that a partition is given back", 1, 0, 0, 9},
				{"lost", "calls that fail, or whose answers are lost", 1, 1, 0, 9},
				{"late", "store calls that arrive when their process is gone", 0, 0, 0, 9},
			},
			Bugs: []Bug{
				{commitFirst, "what was polled is committed before it is stored", "commit-first",
					nil},
				{pollNamed, "an object holds, and is named by, the offsets that one poll brought",
					"poll-named", map[string]int{"rejects": 0}},
				{pastFailure, "a put that failed is passed over, and so is its offset",
					"no-seek-back", nil},
				{zombieOverwrite,
					"a block is stored as it is in memory, whatever the store has",
					"zombie-overwrite", map[string]int{"block": 3, "rejects": 0}},
				{commitLast, "the offset of the last record is committed, not the next one",
					"commit-last", nil},
				{ignoreLetter, "a dead letter that failed is passed over, and so is its offset",
					"dlq-error-ignored", nil},
			},
			Conform: conformLanding,
			Untold:  []string{"leave", "rebalance"}, // an exit, a drop
		},
		build: func(v Values, bug string) check.Spec[LandingState] {
			return newLanding(v, bug).spec()
		},
		say:   sayLanding,
		show:  (*LandingState).String,
		class: classOfLanding,
		lift:  liftLanding,
	})
}
