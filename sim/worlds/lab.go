package worlds

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// LabWorld is the world of the isolation lab.
const LabWorld = "validated-one"

// IsolationLab returns the schedule of the isolation lab: the member dies with its
// output written and its transaction open, so that one transaction aborts; its next
// life commits the same records. Two readers watch, one at each isolation level.
func IsolationLab() schedule.Schedule {
	return schedule.Schedule{
		World: LabWorld, Seed: 1,
		Faults: []schedule.Fault{
			schedule.MustFault("crash validated/0 life 1 before request EndTxn 1"),
		},
	}
}

// LabReport says what the readers of the lab saw, in lines for people: the evidence
// for the claim of hop 4.
func LabReport(h *model.History) []string {
	var aborted []string
	audit := model.Audit(h)
	inputs := make(map[model.Position]bool)
	for _, part := range audit.Topic(Progress) {
		for _, r := range part.Records {
			if r.Kind == model.Data && r.Class == "" {
				at := model.Position{Topic: Progress, Partition: part.Partition, Offset: r.Offset}
				inputs[at] = true
			}
		}
	}
	for _, part := range audit.Topic(ValidatedTopic) {
		for _, r := range part.Records {
			if r.Kind == model.Aborted {
				aborted = append(aborted, fmt.Sprintf("%s/%d@%d (id %s)",
					ValidatedTopic, part.Partition, r.Offset, r.ID))
			}
		}
	}
	committed, uncommitted := copiesSeen(h, "reader/0"), copiesSeen(h, "uncommitted/0")
	lines := []string{
		fmt.Sprintf("%d accepted inputs; %d records of an aborted transaction in the output",
			len(inputs), len(aborted)),
		fmt.Sprintf("read_uncommitted was handed %d records: "+
			"%d of them a second copy of their input",
			uncommitted.records, uncommitted.repeats),
		fmt.Sprintf("read_committed was handed %d records: %d of them a second copy",
			committed.records, committed.repeats),
	}
	if len(aborted) > 0 {
		lines = append(lines, "only read_uncommitted saw "+aborted[0]+" and its like")
	}
	return lines
}

// handed is what a reader was handed.
type handed struct{ records, repeats int }

func copiesSeen(h *model.History, proc string) handed {
	var n handed
	origins := make(map[model.Position]bool)
	for i := range h.Events() {
		e := &h.Events()[i]
		if e.Kind != model.Note || e.Op != "seen" || e.Proc != proc {
			continue
		}
		from := e.Parts[0].Records[0].From
		n.records++
		if origins[from] {
			n.repeats++
		}
		origins[from] = true
	}
	return n
}
