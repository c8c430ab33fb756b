package specs

import (
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// validatedRequests are the requests that the steps of a member are.
var validatedRequests = map[string]string{
	"init": "InitProducerID", "init aborts": "InitProducerID",
	"add output": "AddPartitionsToTxn", "add group": "AddOffsetsToTxn",
	"produce": "Produce", "produce again": "Produce",
	"offsets": "TxnOffsetCommit", "offsets refused": "TxnOffsetCommit",
	"commit beside": "OffsetCommit",
	"commit":        "EndTxn", "commit again": "EndTxn", "abort": "EndTxn",
}

// liftValidated turns a counterexample into faults of a world: the steps of members are
// requests and replies of theirs. The group takes a partition from a member that stands
// still, and the coordinator aborts the transaction of one. What brokers do by
// themselves is no place for a fault.
func liftValidated(_ string, trace []check.Step[ValidatedState]) lifted {
	l := newLifting()
	for i := 1; i < len(trace); i++ {
		who := trace[i].Who
		if who == check.Nobody {
			continue
		}
		gives := false
		for _, later := range trace[i+1:] {
			if later.Who == who {
				gives = later.Action == "give up"
				break
			}
		}
		liftValidatedStep(l, trace[i].Action, validatedName(who), gives)
	}
	return l.finish()
}

// liftValidatedStep lifts one step. Who gives up after it has no answer in time, and a
// client that loses one only asks again: so the answer is slow then.
func liftValidatedStep(l *lifting, action, who string, gives bool) {
	switch action {
	case "ask":
		l.event(who, "reply", "OffsetFetch")
	case "poll":
		l.event(who, "reply", "Fetch")
	case "crash":
		l.crash(who)
	case "move", "timeout":
		l.later(who, "pause", "for "+long)
	}
	action, answered := strings.CutSuffix(action, " answered")
	action, lost := strings.CutSuffix(action, ", answer lost")
	action, fails := strings.CutSuffix(action, " fails")
	op := validatedRequests[action]
	switch {
	case op == "":
	case answered:
		l.event(who, "reply", op)
	case fails && gives:
		l.slow(who, "request", op)
		l.event(who, "request", op)
	case fails:
		l.lose(who, "request", op)
	case lost && gives:
		l.event(who, "request", op)
		l.slow(who, "reply", op)
	case lost:
		l.event(who, "request", op)
		l.lose(who, "reply", op)
	default:
		l.event(who, "request", op)
	}
}
