package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// SeatCounts promises that the number of enrolled learners of each course is the same in
// the database and in the last note "cohort", once every change is published and folded
// in.
//
// It concludes nothing before that, where the audit could not read the database, the
// topic or an object, and without such a note.
func SeatCounts(topic, prefix string, source Source) Property {
	name := "seat-counts/" + topic
	return Property{
		Name: name,
		Says: "Once all is published, each course has as many seats by the fold of " + topic +
			" as enrolled learners in the database.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkSeats(openChanges(h, topic, source), prefix, &f)
			return f.broken()
		},
		Holds:  text(seatsHolds[source], "TOPIC", topic, "PREFIX/0", prefix+"/0"),
		Breaks: text(seatsBreaks[source], "TOPIC", topic, "PREFIX/0", prefix+"/0"),
	}
}

var seatsHolds = map[Source]string{
	FromOutbox: `
1 8s last-cohort/0 life 1 note cohort ("seats go" 1)
2 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
3 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
4 9s - observe log [TOPIC/0 @0 end=1 {@0 id=A/1 key=ada/go cell=enrolled}]
5 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=A/1 key=ada/go cell=enrolled}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 8s last-cohort/0 life 1 note cohort ("seats go" 1)
3 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
4 9s - observe slot key=slot lsn=C/0 note=reserved
5 9s - observe log [TOPIC/0 @0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
6 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=B/1 key=ada/go cell=enrolled}]
`,
}

var seatsBreaks = map[Source]string{
	FromOutbox: `
1 8s last-cohort/0 life 1 note cohort ("seats go" 2)
2 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
3 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
4 9s - observe log [TOPIC/0 @0 end=1 {@0 id=A/1 key=ada/go cell=enrolled}]
5 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=A/1 key=ada/go cell=enrolled}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 8s last-cohort/0 life 1 note cohort
3 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
4 9s - observe slot key=slot lsn=C/0 note=reserved
5 9s - observe log [TOPIC/0 @0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
6 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=B/1 key=ada/go cell=enrolled}]
`,
}

func checkSeats(l *ledgerOfChanges, prefix string, f *findings) {
	report := lastNote(l.h, "cohort")
	if _, whole := l.snapshots(prefix); report == nil || !l.known || !whole || !l.settled() {
		return
	}
	seqs := []int64{report.Seq}
	want := make(map[string]int64)
	for i := range l.audit.Rows {
		row := &l.audit.Rows[i]
		seqs = append(seqs, row.Seq)
		if row.Op == opEnrolled {
			want[courseOf(row.Key)]++
		}
	}
	has := seatsIn(report.Counts)
	for _, course := range sortedNames(want, has) {
		if want[course] != has[course] {
			f.add(fmt.Sprintf("%s has %d seats by the fold, and %d enrolled in the database",
				course, has[course], want[course]), seqs...)
		}
	}
}
