package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// FoldEqualsDatabase promises that whoever folds the topic ends with what the database
// holds: for each key the snapshots below prefix, and the last note "cohort", say what
// the last published commit of that key did. A commit that got lost before it was
// published is none of the fold's business. Where the topic has records of a key that
// are called like no commit, the fold must say, once nothing is pending, what the row of
// the database says.
//
// It concludes nothing where the snapshots have not read the topic to its end, or where
// the audit could not read the database, the topic or an object.
func FoldEqualsDatabase(topic, prefix string, source Source) Property {
	name := "fold-equals-database/" + topic
	return Property{
		Name: name,
		Says: "The fold of " + topic + " below " + prefix +
			" says of each key what its last published commit did.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkFold(openChanges(h, topic, source), prefix, &f)
			return f.broken()
		},
		Holds:  text(foldHolds[source], "TOPIC", topic, "PREFIX/0", prefix+"/0"),
		Breaks: text(foldBreaks[source], "TOPIC", topic, "PREFIX/0", prefix+"/0"),
	}
}

var foldHolds = map[Source]string{
	FromOutbox: `
1 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=dropped}]
2 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=dropped}] (published 1)
3 9s - observe log [TOPIC/0 @0 end=1 {@0 id=A/1 key=ada/go cell=dropped}]
4 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=A/1 key=ada/go cell=dropped}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=dropped}]
2 2s app/0 life 1 return commit 2 done lsn=D/0 [enrollment/0 {id=D/1 key=ada/go cell=enrolled}]
3 9s - observe row key=ada/go lsn=D/1 [enrollment/0 {id=D/1 key=ada/go cell=enrolled}]
4 9s - observe slot key=slot lsn=C/0 note=reserved
5 9s - observe log [TOPIC/0 @0 end=1 {@0 id=B/1 key=ada/go cell=dropped}]
6 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=B/1 key=ada/go cell=dropped}]
`,
}

var foldBreaks = map[Source]string{
	FromOutbox: `
1 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=dropped}]
2 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=dropped}] (published 1)
3 9s - observe log [TOPIC/0 @0 end=1 {@0 id=A/1 key=ada/go cell=dropped}]
4 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=A/1 key=ada/go cell=enrolled}]
`,
	FromLog: `
1 1s app/0 life 1 return commit 1 done lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=dropped}]
2 9s - observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=dropped}]
3 9s - observe slot key=slot lsn=C/0 note=reserved
4 9s - observe log [TOPIC/0 @0 end=1 {@0 id=B/1 key=ada/go cell=dropped}]
5 9s - observe object key=PREFIX/0 [TOPIC/0 @1 {id=B/1 key=ada/go cell=enrolled}]
`,
}

// enrolledWord is what a reader's count of a key begins with.
const enrolledWord = "enrolled "

func checkFold(l *ledgerOfChanges, prefix string, f *findings) {
	all, whole := l.snapshots(prefix)
	if !l.known || !whole {
		return
	}
	want, unsure, seqs := l.published()
	has := make(map[string]*model.Record)
	for _, s := range all {
		seqs = append(seqs, s.Seq)
		for i := range s.part.Records {
			r := &s.part.Records[i]
			if before := has[r.Key]; before == nil || r.ID > before.ID {
				has[r.Key] = r
			}
		}
	}
	for _, key := range sortedNames(want, has) {
		op := ""
		if has[key] != nil {
			op = has[key].Cell
		}
		if op != want[key] && !unsure[key] {
			f.add(fmt.Sprintf("%s is %s by the fold, and %s by the last published commit",
				key, orNothing(op), orNothing(want[key])), seqs...)
		}
	}
	report := lastNote(l.h, "cohort")
	if report == nil || len(f.list) > 0 {
		return
	}
	for _, c := range report.Counts {
		key, ok := strings.CutPrefix(c.Of, enrolledWord)
		if ok && !unsure[key] && (c.N == 1) != (want[key] == opEnrolled) {
			f.add(fmt.Sprintf("%s reports %d for %s, which is %s by the last published commit",
				report.Proc, c.N, key, orNothing(want[key])), append(seqs, report.Seq)...)
		}
	}
}

// published returns what the last published commit of each key did, of which keys that
// is not known, and the events that say so.
func (l *ledgerOfChanges) published() (
	ops map[string]string, unsure map[string]bool, seqs []int64,
) {
	ops, unsure = make(map[string]string), make(map[string]bool)
	for i := range l.changes { // in the order of commits
		if c := &l.changes[i]; l.first[c.changeName] != (spot{}) {
			ops[c.key] = c.op
		}
	}
	for i := range l.logs {
		seqs = append(seqs, l.logs[i].seq)
		for r := range l.logs[i].decided() {
			if r.Class == "" && l.byName[nameOf(r)] == nil {
				unsure[r.Key] = true
			}
		}
	}
	if !l.settled() {
		return ops, unsure, seqs
	}
	for i := range l.audit.Rows {
		row := &l.audit.Rows[i]
		seqs = append(seqs, row.Seq)
		if unsure[row.Key] {
			ops[row.Key] = row.Op
		}
	}
	return ops, nil, seqs
}

func orNothing(op string) string {
	if op == "" {
		return "nothing"
	}
	return op
}
