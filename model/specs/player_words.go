package specs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// String returns the state as one line.
func (s *PlayerState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d attempts", s.Sent)
	for _, part := range []struct {
		says string
		set  uint64
	}{
		{"written", s.Written}, {"in the log", s.Appended}, {"answered", s.Known},
		{"acked", s.Acked}, {"failed", s.Failed}, {"told not done", s.Denied},
	} {
		if part.set != 0 {
			fmt.Fprintf(&b, ", %s %s", part.says, offsets(part.set))
		}
	}
	fmt.Fprintf(&b, "; events open %s, done %s", offsets(s.Open), offsets(s.Done))
	if s.Cut > 0 {
		fmt.Fprintf(&b, "; a new epoch from attempt %d", s.Cut)
	}
	return b.String()
}

// sayPlayer tells a step in the words of the hop.
func sayPlayer(before *PlayerState, step *check.Step[PlayerState]) string {
	event := "event " + strconv.Itoa(step.Who)
	attempt := "attempt " + strconv.Itoa(step.Who)
	switch step.Action {
	case "ask":
		return "the application asks for " + event
	case "send":
		return fmt.Sprintf("the player sends %s, as attempt %d", event, before.Sent)
	case "write":
		return "the client writes " + attempt + landed(before, step)
	case "write, answer lost":
		return "the client writes " + attempt + landed(before, step) + "; the answer is lost"
	case "write fails":
		return "the request with " + attempt + " is lost"
	case "refuse":
		return "the broker refuses " + attempt + " for good"
	case "answer", "ack":
		return "the client hears that " + attempt + " is done"
	case "time out":
		return "the promise of " + attempt + " fails: its time is over"
	case "tell done":
		return "the application is told that " + event + " is done"
	case "tell not done":
		return "the application is told that " + event + " is not done"
	case "tell unknown":
		return "the application is told that it is unknown whether " + event + " is done"
	case "crash":
		return "the player is killed"
	}
	return step.String()
}

// landed says what the broker did with a write.
func landed(before *PlayerState, step *check.Step[PlayerState]) string {
	switch {
	case step.State.Appended != before.Appended:
		return ", and it is appended"
	case step.State.Twice:
		return ", and it is appended again"
	}
	return ", and the broker takes it for a duplicate"
}
