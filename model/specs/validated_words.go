package specs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

var (
	phaseWords = [...]string{idle: "idle", ongoing: "open", committing: "committing",
		aborting: "aborting"}
	stageWords = [...]string{down: "is down", ready: "is at", working: "works on",
		offered: "has added", ending: "commits", failed: "aborts", asking: "asks for its position"}
	epochWords = [...]string{none: "no epoch", current: "the epoch", stale: "a stale epoch"}
)

// String returns the state as one line.
func (s *ValidatedState) String() string {
	var b strings.Builder
	owner := "nobody"
	if s.Owner > 0 {
		owner = validatedName(int(s.Owner) - 1)
	}
	fmt.Fprintf(&b, "group at %d, output at %d, owner %s", s.Commit, s.Output, owner)
	for i := range s.Ids {
		id := &s.Ids[i]
		if *id == (ValidatedID{}) {
			continue
		}
		fmt.Fprintf(&b, "; transaction %d %s", i, phaseWords[id.Phase])
		if id.To > 0 {
			fmt.Fprintf(&b, ", outputs of %s", batch(id.From, id.To))
		}
		if id.Pending > 0 {
			fmt.Fprintf(&b, ", offset %d", id.Pending)
		}
		if id.Facts&foreign != 0 {
			b.WriteString(", an append that came too late")
		}
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Stage == down {
			continue
		}
		fmt.Fprintf(&b, "; %s has %s, %s", validatedName(i), epochWords[m.Epoch],
			stageWords[m.Stage])
		switch {
		case m.From < m.Next:
			fmt.Fprintf(&b, " %s, has sent up to %d", batch(m.From, m.Next), m.Sent)
		case m.Stage == ready && m.Has:
			fmt.Fprintf(&b, " %d", m.Next)
		case m.Stage == ready:
			b.WriteString(" no partition")
		}
		if m.Waits != forNobody {
			b.WriteString(", waits")
		}
	}
	return b.String()
}

// validatedName returns the process of a member.
func validatedName(m int) string { return "validated/" + strconv.Itoa(m) }

// batch writes the offsets in [from, to).
func batch(from, to uint8) string { return offsets(below(int(to)) &^ below(int(from))) }

// sayValidated tells a step in the words of the hop.
func sayValidated(before *ValidatedState, step *check.Step[ValidatedState]) string {
	if step.Who == check.Nobody {
		return step.String()
	}
	who := validatedName(step.Who)
	action, lost := strings.CutSuffix(step.Action, ", answer lost")
	says := sayMember(action, &before.Members[step.Who], step)
	if says == "" {
		return sayBroker(before, step)
	}
	if lost {
		says += "; the answer is lost"
	}
	return who + " " + says
}

// sayMember tells what a member does, "" for what brokers do.
func sayMember(action string, was *ValidatedMember, step *check.Step[ValidatedState]) string {
	is := &step.State.Members[step.Who]
	switch action {
	case "init":
		return "starts, and gets a producer epoch"
	case "init aborts":
		return "starts: what its transactional id has left open is aborted"
	case "assign":
		return "gets the partition"
	case "drop":
		return "hears that the partition is another's, and drops it"
	case "ask":
		return fmt.Sprintf("is told that the group stands at %d", is.Next)
	case "poll":
		return "polls offsets " + batch(is.From, is.Next)
	case "add output":
		return "adds the output to its transaction"
	case "add group":
		return "adds the group to its transaction"
	case "produce":
		return "produces the outputs of " + batch(was.Sent, is.Sent)
	case "produce again":
		return "sends its last produce again"
	case "produce fails":
		return fmt.Sprintf("produces the outputs of %s; the request is lost",
			batch(was.Sent, is.Sent))
	case "produce answered":
		return "hears that its outputs are appended"
	}
	return sayEnd(action, is)
}

// sayEnd tells what a member does to end a transaction.
func sayEnd(action string, is *ValidatedMember) string {
	switch action {
	case "offsets":
		return "adds the next offset to its transaction"
	case "offsets fails":
		return "adds the next offset to its transaction; the request is lost"
	case "offsets refused":
		return "is told that the group knows it no more"
	case "offsets answered":
		return "hears that the offset is pending"
	case "no offsets":
		return "adds no offset to its transaction"
	case "commit beside":
		return fmt.Sprintf("commits offset %d beside the transaction", is.Next)
	case "commit":
		return "commits its transaction"
	case "commit again":
		return "asks for the commit again"
	case "commit fails":
		return "commits its transaction; the request is lost"
	case "commit answered":
		return "hears that its transaction is committed"
	case "give up":
		return "waits no longer for its answer"
	case "abort":
		return "aborts its transaction"
	case "nothing open":
		return "makes sure that no transaction of its id is open"
	case "fenced":
		return "is told that its epoch is stale, and exits"
	case "crash":
		return "is killed"
	}
	return ""
}

// sayBroker tells what a coordinator does with a transactional id, or the group with a
// member.
func sayBroker(before *ValidatedState, step *check.Step[ValidatedState]) string {
	id := "transactional id " + strconv.Itoa(step.Who)
	was := before.Ids[step.Who].Phase
	ends := "aborts"
	if was == committing {
		ends = "commits"
	}
	switch step.Action {
	case "output marker":
		return fmt.Sprintf("a marker %s the outputs of %s", ends, id)
	case "group marker":
		return fmt.Sprintf("a marker %s the offset of %s", ends, id)
	case "timeout":
		return fmt.Sprintf("the transaction of %s times out: it is aborted under a new epoch", id)
	case "late append":
		return fmt.Sprintf("a late produce of %s is appended", id)
	case "late append refused":
		return fmt.Sprintf("a late produce of %s is refused: its epoch is stale", id)
	case "move":
		return validatedName(step.Who) + " stands still, and the group takes its partition"
	}
	return step.String()
}
