package specs

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// String returns the state as one line.
func (s *TileState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "batches end with %s, sink log %s compact %s, committed %d",
		offsets(s.Ends), offsets(s.Entries), offsets(s.Compacts), s.Committed)
	for i := range s.Runs {
		r := &s.Runs[i]
		name := "; tile/" + strconv.Itoa(i)
		switch r.Step {
		case tileDown:
		case tileRests:
			fmt.Fprintf(&b, "%s plans batch %d next, from %d", name, r.Batch, r.End)
		case tileWrites:
			fmt.Fprintf(&b, "%s has batch %d up to %d in hand, %d works of it done",
				name, r.Batch, r.End, r.Done)
		case tileCleans:
			fmt.Fprintf(&b, "%s has compacted batch %d", name, int(r.Batch)-1)
		case tileRefuses:
			b.WriteString(name + " refuses to go on")
		default:
			fmt.Fprintf(&b, "%s looks: %d planned, %d in the sink log, %d committed",
				name, r.SawOffsets, r.SawSink, r.SawCommits)
		}
		if r.Own {
			b.WriteString(", whose next put is there already")
		}
	}
	return b.String()
}

// sayTile tells a step in the words of the hop.
func sayTile(before *TileState, step *check.Step[TileState]) string {
	if step.Action == "lose checkpoint" {
		return "somebody removes the checkpoint"
	}
	who := "tile/" + strconv.Itoa(step.Who)
	was, is := &before.Runs[step.Who], &step.State.Runs[step.Who]
	action, lost := strings.CutSuffix(step.Action, ", answer lost")
	end := ""
	if lost {
		end = "; the answer is lost"
	}
	batch := int(was.Batch)
	switch action {
	case "list commits", "list sink log", "list offsets":
		saw := map[tileStep]uint8{
			tileReadsCommits: is.SawCommits, tileReadsSink: is.SawSink,
			tileReadsOffsets: is.SawOffsets,
		}[is.Step]
		return fmt.Sprintf("%s lists the %s: %d batches", who, map[string]string{
			"list commits": "commits log", "list sink log": "sink log",
			"list offsets": "offsets log",
		}[action], saw)
	case "decide":
		if is.Step == tileRests {
			return fmt.Sprintf("%s will plan batch %d", who, is.Batch)
		}
		return fmt.Sprintf("%s goes on with batch %d", who, is.Batch)
	case "refuse":
		return who + " finds that the logs make no sense, and refuses to go on"
	case "plan":
		return fmt.Sprintf("%s plans batch %d: offsets %s%s", who, batch,
			offsets(step.State.offsets(batch)), end)
	case "store parts":
		return fmt.Sprintf("%s stores the parts of batch %d%s", who, batch, end)
	case "log":
		return fmt.Sprintf("%s names the parts of batch %d in the sink log%s", who, batch, end)
	case "commit":
		return fmt.Sprintf("%s commits batch %d%s", who, batch, end)
	case "plan refused", "log refused", "commit refused":
		log := map[string]string{
			"plan refused": "offsets log", "log refused": "sink log",
			"commit refused": "commits log",
		}[action]
		text := fmt.Sprintf("%s finds batch %d in the %s", who, batch, log)
		if is.Step == tileDown {
			return text + ", and stops"
		}
		return text + ", takes it for its own, and goes on"
	case "skip":
		return fmt.Sprintf("%s finds batch %d in the sink log, and skips it", who, batch)
	case "remove":
		gone := (before.Entries | before.Compacts) &^ (step.State.Entries | step.State.Compacts)
		if gone == 0 {
			return who + " removes what is gone already" + end
		}
		return fmt.Sprintf("%s removes the entry of batch %d from the sink log%s", who,
			bits.TrailingZeros64(gone), end)
	case "crash":
		return who + " is killed"
	case "crash, put under way":
		return who + " is killed, and a put of it is on its way"
	case "late put":
		return "the put of a life of " + who + " that is over arrives"
	}
	return step.String()
}
