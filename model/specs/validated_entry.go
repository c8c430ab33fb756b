package specs

import "github.com/hopcheck/hopcheck/model/check"

func init() {
	register(protocol[ValidatedState]{
		Entry: Entry{
			Name: "validated",
			Says: "a partition into another topic and the group's offset, in transactions",
			Promises: []string{
				"An accepted input is visible at read_committed at most once, and in order.",
				"Nothing of an aborted transaction is visible at read_committed.",
				"The group's offset is never beyond the output that is committed.",
				"The group's offset never moves backwards.",
				"Nobody is fenced by another member that is alive.",
				"When all is quiet, every accepted input is visible and its offset committed.",
				"When all is quiet, no transaction holds back the last stable offset.",
			},
			Params: []Param{
				{"records", "records in the partition", 4, 2, 1, 12},
				{"rejects", "how many of them the contract rejects: 1, 3, 5...", 0, 1, 0, 6},
				{"members", "members of the group", 2, 2, 1, MaxValidatedMembers},
				{"crashes", "kills of a member", 1, 1, 0, 9},
				{"moves", "times that the group takes the partition away", 1, 1, 0, 9},
				{"timeouts", "times that the transaction of a live member times out", 1, 1, 0, 9},
				{"lost", "requests or answers that are lost", 1, 1, 0, 9},
				{"kip890", "1: an epoch for each transaction; 0: as before Kafka 4", 1, 1, 0, 1},
				{"late", "1: a produce that is lost may arrive later", 0, 1, 0, 1},
			},
			Bugs: []Bug{
				{noGeneration, "the group takes offsets from who is not its member any more",
					"offsets-without-member", nil},
				{sharedID, "two members have one transactional id", "shared-transactional-id", nil},
				{sideBefore, "the consumer commits its offsets before the transaction ends",
					"commit-sync-before", nil},
				{sideAfter, "the consumer commits its offsets when the transaction has ended",
					"commit-sync-after", nil},
				{commitLast, "the offset of the last record is committed, not the next one",
					"validated-commit-last", nil},
				{noRequireStable, "a position is asked for while a transaction may still move it",
					"", nil},
				{replay, "a commit without an answer is taken for a failure, and tried again",
					"stale-rewind", nil},
				{readUncommitted, "the output is read at read_uncommitted",
					"read-uncommitted", nil},
				{lateAppended, "brokers from before KIP-890 take an append that comes too late",
					"", map[string]int{"kip890": 0, "late": 1}},
			},
			Conform: conformValidated,
		},
		build: func(v Values, bug string) check.Spec[ValidatedState] {
			return newValidated(v, bug).spec()
		},
		say:   sayValidated,
		show:  (*ValidatedState).String,
		class: classOfValidated,
		lift:  liftValidated,
	})
}
