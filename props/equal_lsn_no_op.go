package props

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// EqualLSNNoOp promises that copies change no count: the seats in each snapshot below
// prefix, the last ones and those on the way there, are those of the topic's records
// below its offset, where the greatest position of a key wins, an equal one is a no-op
// and a smaller one is dropped.
//
// It concludes nothing where retention took records, or the audit could not read the
// topic or an object.
func EqualLSNNoOp(topic, prefix string) Property {
	name := "equal-lsn-no-op/" + topic
	return Property{
		Name: name,
		Says: "The seats that the fold of " + topic + " below " + prefix + " counts are those of " +
			"the latest change of each key, however often a change was published.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkSeatsOfFold(openChanges(h, topic, FromOutbox), prefix, &f)
			return f.broken()
		},
		Holds:  text(noOpHolds, "TOPIC", topic, "PREFIX/0", prefix+"/0"),
		Breaks: text(noOpBreaks, "TOPIC", topic, "PREFIX/0", prefix+"/0"),
	}
}

const noOpHolds = `
1 9s - observe log [TOPIC/0 @0 end=3 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=B/1 key=ada/go cell=enrolled} {@2 id=A/1 key=ada/go cell=dropped}]
2 9s - observe object key=PREFIX/0 [TOPIC/0 @3 {id=B/1 key=ada/go cell=enrolled}] ("seats go" 1)
`

const noOpBreaks = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=B/1 key=ada/go cell=enrolled}]
2 9s - observe object key=PREFIX/0 [TOPIC/0 @2 {id=B/1 key=ada/go cell=enrolled}] ("seats go" 2)
`

// seatsWord is what the count of a course's seats begins with.
const seatsWord = "seats "

func checkSeatsOfFold(l *ledgerOfChanges, prefix string, f *findings) {
	if !l.known || l.objectsUnread() {
		return
	}
	var all []snapshot
	for _, p := range model.Puts(l.h) {
		below := p.Applied && strings.HasPrefix(p.Key, prefix+"/")
		if below && len(p.Parts) == 1 && p.Parts[0].Topic == l.topic {
			o := &model.Object{Key: p.Key, Counts: p.Counts, Seq: p.Seq}
			all = append(all, snapshot{o, &p.Parts[0]})
		}
	}
	last, _ := l.snapshots(prefix)
	all = append(all, last...)
	told := make(map[string]bool) // the last ones were put, and say the same
	for _, s := range all {
		log := logOf(l.logs, s.part.Partition)
		if log == nil {
			continue
		}
		want, has := foldSeats(log, s.part.Offset), seatsIn(s.Counts)
		for _, course := range sortedNames(want, has) {
			if want[course] == has[course] {
				continue
			}
			witness := fmt.Sprintf("%s counts %d seats in %s, and the changes below offset %d of "+
				"%s/%d make %d", s.Key, has[course], course, s.part.Offset, l.topic,
				log.partition, want[course])
			if !told[witness] {
				told[witness] = true
				f.add(witness, s.Seq, log.seq)
			}
		}
	}
}

// foldSeats counts the seats of each course by the records below an offset.
func foldSeats(log *partitionLog, below int64) map[string]int64 {
	latest := make(map[string]*model.Record)
	for r := range log.decided() {
		if r.Offset >= below || r.Class != "" {
			continue
		}
		if before := latest[r.Key]; before == nil || r.ID > before.ID {
			latest[r.Key] = r
		}
	}
	seats := make(map[string]int64)
	for key, r := range latest {
		if r.Cell == opEnrolled {
			seats[courseOf(key)]++
		}
	}
	return seats
}

// seatsIn returns the seats by course that something counts.
func seatsIn(counts []model.Count) map[string]int64 {
	seats := make(map[string]int64)
	for _, c := range counts {
		if course, ok := strings.CutPrefix(c.Of, seatsWord); ok {
			seats[course] += c.N
		}
	}
	return seats
}

// sortedNames returns the keys of both maps, each once.
func sortedNames[A, B any](a map[string]A, b map[string]B) []string {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
