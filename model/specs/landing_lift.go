package specs

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model/check"
)

// liftLanding turns a counterexample into faults of a world: a put is a call of put, a
// dead letter a Produce, a poll the reply of a Fetch. A member that stands still does so
// before its next event.
func liftLanding(_ string, trace []check.Step[LandingState]) lifted {
	l := newLifting()
	for i := 1; i < len(trace); i++ {
		liftLandingStep(l, trace[i].Action, fmt.Sprintf("landing/%d", trace[i].Who))
	}
	return l.finish()
}

func liftLandingStep(l *lifting, action, who string) {
	switch action {
	case "assign":
		l.event(who, "reply", "OffsetFetch")
	case "poll":
		l.event(who, "reply", "Fetch")
	case "put":
		l.event(who, "call", "put")
	case "put answered":
		l.event(who, "return", "put")
	case "put, answer lost":
		l.event(who, "call", "put")
		l.lose(who, "return", "put")
	case "put fails":
		l.refuse(who, "call", "put", "unavailable")
	case "late put":
		l.slow(who, "call", "put")
	case "look":
		l.event(who, "call", "get")
	case "bury":
		l.event(who, "request", "Produce")
	case "bury, answer lost":
		l.event(who, "request", "Produce")
		l.lose(who, "reply", "Produce")
	case "bury fails":
		l.refuse(who, "request", "Produce", "NOT_ENOUGH_REPLICAS")
	case "letter answered":
		l.event(who, "reply", "Produce")
	case "commit":
		l.event(who, "request", "OffsetCommit")
	case "commit answered":
		l.event(who, "reply", "OffsetCommit")
	case "commit, answer lost":
		l.event(who, "request", "OffsetCommit")
		l.lose(who, "reply", "OffsetCommit")
	case "crash":
		l.crash(who)
	case "stop":
		l.later(who, "stop", "")
	case "pause", "rebalance":
		// A world takes a partition from a member by nothing but its silence.
		l.later(who, "pause", "for "+long)
	}
}
