package specs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// String returns the state as one line.
func (s *LandingState) String() string {
	var b strings.Builder
	owner := "nobody"
	if s.Owner > 0 {
		owner = "landing/" + strconv.Itoa(int(s.Owner)-1)
	}
	fmt.Fprintf(&b, "group at %d, owner %s, stored %s, dead %s",
		s.Commit, owner, offsets(s.Stored), offsets(s.Dead))
	for i := range s.Members {
		m := &s.Members[i]
		if !m.Has {
			continue
		}
		fmt.Fprintf(&b, "; landing/%d has polled to %d, settled %s, knows commit %d",
			i, m.Next, offsets(m.Settled), m.Committed)
		switch m.Waits {
		case forPut:
			fmt.Fprintf(&b, ", waits for a put to %d", m.At)
		case forCommit:
			fmt.Fprintf(&b, ", waits for a commit of %d", m.At)
		}
	}
	return b.String()
}

// sayLanding tells a step in the words of the hop.
func sayLanding(before *LandingState, step *check.Step[LandingState]) string {
	who := "landing/" + strconv.Itoa(step.Who)
	was, is := &before.Members[step.Who], &step.State.Members[step.Who]
	puts := offsets(step.State.Stored &^ before.Stored)
	if step.State.Stored != before.Stored && before.Stored&^step.State.Stored != 0 {
		puts = "a shorter object, without " + offsets(before.Stored&^step.State.Stored)
	} else if puts == "none" {
		puts = "what is there already"
	}
	letters := offsets(step.State.Dead&^before.Dead | is.Letters&^was.Letters)
	switch step.Action {
	case "assign":
		return fmt.Sprintf("%s gets the partition, at offset %d", who, is.Next)
	case "drop":
		return who + " hears that the partition is another's, and drops it"
	case "poll":
		return fmt.Sprintf("%s polls offsets %s", who,
			offsets(below(int(is.Next))&^below(int(was.Next))))
	case "put":
		return fmt.Sprintf("%s puts %s", who, puts)
	case "put, answer lost":
		return fmt.Sprintf("%s puts %s; the answer is lost", who, puts)
	case "put fails":
		return who + "'s put fails"
	case "put answered":
		return fmt.Sprintf("%s hears that the put up to %d is done", who, int(was.At)-1)
	case "put refused":
		return who + "'s put is refused: the object has changed"
	case "look":
		return fmt.Sprintf("%s reads the object: it ends before %d", who, is.Held)
	case "bury":
		return fmt.Sprintf("%s dead-letters %s", who, letters)
	case "bury, answer lost":
		return fmt.Sprintf("%s dead-letters %s; the ack is lost", who, letters)
	case "bury fails":
		return who + "'s dead letter fails"
	case "letter answered":
		return fmt.Sprintf("%s hears that %s is dead-lettered", who,
			offsets(was.Letters&^is.Letters))
	case "commit":
		return fmt.Sprintf("%s commits %d", who, step.State.Commit)
	case "commit, answer lost":
		return fmt.Sprintf("%s commits %d; the answer is lost", who, step.State.Commit)
	case "commit answered":
		return fmt.Sprintf("%s hears that the commit is done", who)
	case "late put":
		return fmt.Sprintf("a slow put of %s stores %s", who, puts)
	case "crash":
		return who + " is killed"
	case "stop":
		return who + " is asked to end"
	case "give up":
		return who + " waits no longer for its answer"
	case "leave":
		return who + " leaves the group, and ends"
	case "pause":
		return who + " stands still, and the group evicts it"
	case "rebalance":
		return who + " gives the partition back"
	}
	return step.String()
}
