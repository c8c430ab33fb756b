package specs

import "github.com/hopcheck/hopcheck/model/check"

// liftPlayer turns a counterexample into faults of a world. Whoever gives up does so
// because what comes next of its attempt comes too late: the request that it is in, or
// the answer.
func liftPlayer(_ string, trace []check.Step[PlayerState]) lifted {
	const who = "player/0"
	l := newLifting()
	for i := 1; i < len(trace); i++ {
		before := &trace[i-1].State
		switch step := &trace[i]; step.Action {
		case "write":
			l.event(who, "request", "Produce")
		case "answer":
			l.event(who, "reply", "Produce")
		case "write, answer lost":
			l.event(who, "request", "Produce")
			l.lose(who, "reply", "Produce")
		case "write fails":
			l.lose(who, "request", "Produce")
		case "refuse":
			l.refuse(who, "request", "Produce", "MESSAGE_TOO_LARGE")
		case "time out":
			l.slow(who, "request", "Produce")
		case "tell unknown", "tell not done":
			if !step.Fault {
				continue
			}
			if before.Mine&before.Written != 0 {
				l.slow(who, "reply", "Produce")
			} else {
				l.slow(who, "request", "Produce")
			}
		case "crash":
			l.crash(who)
		}
	}
	return l.finish()
}
