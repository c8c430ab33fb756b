package specs

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// String returns the state as one line.
func (s *EnrollmentState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ids of %s drawn, %d committed, in the topic %s",
		offsets(s.Drawn), s.Committed, offsets(s.Appended))
	if s.Log {
		fmt.Fprintf(&b, ", slot at %d", s.Confirmed)
	} else {
		fmt.Fprintf(&b, ", marked %s", offsets(s.Marked))
	}
	for i := range s.Publishers {
		p := &s.Publishers[i]
		if *p == (Publisher{}) {
			continue
		}
		fmt.Fprintf(&b, "; %s has %s, acked %s", publisherName(s, i), offsets(p.Claimed),
			offsets(p.Acked))
		switch {
		case s.Log:
			fmt.Fprintf(&b, ", knows %d to be published, streams %d next", p.Knows, p.Next)
		case p.Claimed != 0 && !p.Locks:
			b.WriteString(", claim gone")
		}
	}
	return b.String()
}

func publisherName(s *EnrollmentState, number int) string {
	if s.Log {
		return fmt.Sprintf("publisher/%d", number)
	}
	return fmt.Sprintf("poller/%d", number)
}

// sayEnrollment tells a step in the words of the hop.
func sayEnrollment(before *EnrollmentState, step *check.Step[EnrollmentState]) string {
	action, lost := strings.CutSuffix(step.Action, ", answer lost")
	end := ""
	if lost {
		end = "; the answer is lost"
	}
	switch action {
	case "draw id":
		return fmt.Sprintf("the application inserts the outbox row of change %s",
			offsets(step.State.Drawn&^before.Drawn))
	case "commit":
		return fmt.Sprintf("the application commits change %d", before.Committed)
	case "late append":
		return fmt.Sprintf("a slow request puts change %s into the topic",
			offsets(before.Slow&^step.State.Slow))
	case "checkpoint":
		return "the database writes the slot to disk"
	case "server crash":
		return fmt.Sprintf("the database server is killed; the slot is at %d", step.State.Confirmed)
	}
	if step.Who == check.Nobody {
		return step.String()
	}
	who := publisherName(before, step.Who)
	was, is := &before.Publishers[step.Who], &step.State.Publishers[step.Who]
	switch action {
	case "claim":
		return fmt.Sprintf("%s claims the rows of changes %s", who, offsets(is.Claimed))
	case "mark":
		return fmt.Sprintf("%s marks changes %s as published%s", who, offsets(was.Claimed), end)
	case "mark fails":
		return fmt.Sprintf("%s cannot mark changes %s", who, offsets(was.Claimed))
	case "release":
		return fmt.Sprintf("%s waits no longer for the acks of %s", who, offsets(was.Claimed))
	case "stream":
		return fmt.Sprintf("%s begins to stream from change %d", who, is.Next)
	case "next":
		return fmt.Sprintf("%s gets change %d", who, was.Next)
	case "keepalive":
		return who + " gets a keepalive"
	case "confirm":
		return fmt.Sprintf("%s confirms all changes below %d%s", who, step.State.Confirmed, end)
	case "append":
		sent := is.Sent &^ was.Sent
		if lost && sent != 0 || sent != 0 && is.Flying == was.Flying|sent {
			return fmt.Sprintf("%s puts change %s into the topic%s", who, offsets(sent), end)
		}
		return fmt.Sprintf("%s puts change %s into the topic again, where its producer is known",
			who, offsets(is.Flying&^was.Flying))
	case "ack":
		return fmt.Sprintf("%s hears that change %s is in the topic", who,
			offsets(was.Flying&^is.Flying))
	case "crash":
		return who + " is killed"
	}
	return step.String()
}
