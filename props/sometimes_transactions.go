package props

import "github.com/hopcheck/hopcheck/model"

// SometimesAborted wants data of an aborted transaction in the audited log of the topic.
func SometimesAborted(topic string) Sometimes {
	return Sometimes{
		Name: "aborted/" + topic,
		Says: "A transaction that wrote to " + topic + " was aborted.",
		Seen: func(h *model.History) bool {
			for _, log := range openLedger(h).logs(topic) {
				for i := range log.records {
					if log.records[i].Kind == model.Aborted {
						return true
					}
				}
			}
			return false
		},
	}
}

// SometimesFenced wants a life that a broker told that it is fenced. What a fault
// answered in the broker's place does not count.
func SometimesFenced() Sometimes {
	return Sometimes{
		Name: "fenced/any",
		Says: "A producer or a member was fenced and got to know.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool {
				return e.Outcome != model.Unknown && fence(e) != "" && !madeUp(h, e)
			})
		},
	}
}

// SometimesStaleGeneration wants a commit of offsets, in a transaction or not, that a
// broker refused for the generation, the member epoch or the member id that it named.
// What a fault answered in the broker's place does not count.
func SometimesStaleGeneration() Sometimes {
	return Sometimes{
		Name: "stale-generation/any",
		Says: "A commit of a member that the group had gone on without was refused.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool {
				commit := e.Op == "TxnOffsetCommit" || e.Op == "OffsetCommit"
				return e.Kind == model.Reply && commit && !madeUp(h, e) &&
					anyError(e, "ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID",
						"FENCED_MEMBER_EPOCH") != ""
			})
		},
	}
}

// madeUp reports whether an answer is to a request that never reached a broker: a
// fault made it.
func madeUp(h *model.History, answer *model.Event) bool {
	return answer.Of > 0 && answer.Of < answer.Seq &&
		h.Events()[answer.Of-1].Outcome == model.NotDone
}

// SometimesRebalanceInTransaction wants a member of the group that joins, or is given
// an assignment, while its life has a transaction open.
func SometimesRebalanceInTransaction(group string) Sometimes {
	return Sometimes{
		Name: "rebalance-in-transaction/" + group,
		Says: "A member of " + group + " was rebalanced while it had a transaction open.",
		Seen: func(h *model.History) bool {
			open := make(opened)
			return anyEvent(h, func(e *model.Event) bool {
				open.take(e)
				return e.Group == group && e.Err == "" && len(open[lifeOf(e)]) > 0 &&
					(e.Op == "JoinGroup" ||
						e.Op == "ConsumerGroupHeartbeat" && e.Note == "assignment")
			})
		},
	}
}

// SometimesLostEnd wants a transaction that was ended, and the answer lost.
func SometimesLostEnd() Sometimes {
	return Sometimes{
		Name: "lost-end/any",
		Says: "The answer to an EndTxn that took effect got lost.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool {
				return e.Kind == model.Reply && e.Op == "EndTxn" &&
					e.Outcome == model.Unknown && e.Err == ""
			})
		},
	}
}
