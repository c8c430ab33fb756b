package specs

import (
	"math/bits"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// enrollmentEvents are the calls and requests that the steps of a publisher are.
var enrollmentEvents = map[string][2]string{
	"claim": {"call", "claim"}, "mark": {"call", "mark"}, "stream": {"call", "stream"},
	"next": {"call", "next"}, "keepalive": {"call", "next"}, "confirm": {"call", "confirm"},
	"append": {"request", "Produce"},
}

// liftEnrollment turns a counterexample into faults of a world. Where a change draws its
// id and another one with a greater id commits first, its transaction is slow. Whoever
// gives up waiting for acks has a slow one. A database server dies at the next call of
// the publisher that was last heard of.
func liftEnrollment(_ string, trace []check.Step[EnrollmentState]) lifted {
	l := newLifting()
	publisher := ""
	for i := 1; i < len(trace); i++ {
		before, step := &trace[i-1].State, &trace[i]
		if step.Who != check.Nobody {
			publisher = publisherName(before, step.Who)
			liftPublisher(l, step.Action, publisher)
			continue
		}
		switch step.Action {
		case "draw id":
			change := bits.TrailingZeros64(step.State.Drawn &^ before.Drawn)
			if below(change)&^before.Drawn != 0 {
				l.slow("registrar/0", "return", "publish")
			}
			l.event("registrar/0", "return", "publish")
		case "server crash":
			l.later(publisher, "database", "crashes")
		}
	}
	return l.finish()
}

func liftPublisher(l *lifting, action, who string) {
	switch action {
	case "crash":
		l.crash(who)
		return
	case "ack":
		l.event(who, "reply", "Produce")
		return
	case "release":
		l.slow(who, "reply", "Produce")
		return
	}
	action, lost := strings.CutSuffix(action, ", answer lost")
	action, fails := strings.CutSuffix(action, " fails")
	event, ok := enrollmentEvents[action]
	answer := map[string]string{"call": "return", "request": "reply"}[event[0]]
	switch {
	case !ok:
	case fails && event[0] == "call":
		l.refuse(who, event[0], event[1], "unavailable")
	case fails:
		l.lose(who, event[0], event[1])
	default:
		l.event(who, event[0], event[1])
		if lost {
			l.lose(who, answer, event[1])
		}
	}
}
