package props

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// CommitMonotonic promises that a group never goes back: a commit that was asked
// for after a higher one of the same partition had been answered is not applied,
// and the audit finds no less than the highest applied one.
//
// Two commits that were under way at once may have been applied in either order,
// so they are not compared, except with what the audit finds. It cannot tell an
// explicit reset from a mistake: a world that resets a group must not use it. An
// offset that expired is not going back; offsets that a transaction commits are
// not seen before the audit.
func CommitMonotonic(group string) Property {
	name := "commit-monotonic/" + group
	return Property{
		Name: name,
		Says: "No commit of " + group + " is applied that is lower than an earlier one.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkMonotonic(h, group, &f)
			return f.broken()
		},
		Holds:  text(monotonicHolds, "GROUP", group),
		Breaks: text(monotonicBreaks, "GROUP", group),
	}
}

const monotonicHolds = `
1 1s landing/0 life 1 request OffsetCommit 1 group=GROUP [t/0 @5]
2 1s landing/0 life 1 reply OffsetCommit 1 done group=GROUP [t/0 @5]
3 2s landing/1 life 1 request OffsetCommit 1 group=GROUP [t/0 @5]
4 2s landing/1 life 1 reply OffsetCommit 1 done group=GROUP [t/0 @5]
5 3s landing/0 life 1 request OffsetCommit 2 group=GROUP [t/0 @4]
6 3s landing/0 life 1 reply OffsetCommit 2 not-done group=GROUP [t/0 @4 err=FENCED_MEMBER_EPOCH]
`

const monotonicBreaks = `
1 1s landing/0 life 1 request OffsetCommit 1 group=GROUP [t/0 @5]
2 1s landing/0 life 1 reply OffsetCommit 1 done group=GROUP [t/0 @5]
3 2s landing/1 life 1 request OffsetCommit 1 group=GROUP [t/0 @4]
4 2s landing/1 life 1 reply OffsetCommit 1 unknown group=GROUP [t/0 @4]
`

// highest is the highest applied commit of a partition so far.
type highest struct{ offset, seq int64 }

// partitionName is a partition as a key: its Offset is always 0.
type partitionName = model.Position

func checkMonotonic(h *model.History, group string, f *findings) {
	byAsk := slices.DeleteFunc(commits(h), func(s step) bool { return s.answer.Group != group })
	answered := slices.Clone(byAsk)
	slices.SortStableFunc(answered, func(a, b step) int {
		return cmp.Compare(a.answer.Seq, b.answer.Seq)
	})
	most := make(map[partitionName]highest)
	take := func(e *model.Event) {
		for i := range e.Parts {
			p := &e.Parts[i]
			at := partitionName{Topic: p.Topic, Partition: p.Partition}
			if was, ok := most[at]; p.Err == "" && (!ok || p.Offset > was.offset) {
				most[at] = highest{p.Offset, e.Seq}
			}
		}
	}
	for _, s := range byAsk {
		for len(answered) > 0 && answered[0].answer.Seq < s.ask.Seq {
			take(answered[0].answer)
			answered = answered[1:]
		}
		for i := range s.answer.Parts {
			p := &s.answer.Parts[i]
			was, ok := most[partitionName{Topic: p.Topic, Partition: p.Partition}]
			if ok && p.Err == "" && p.Offset < was.offset {
				f.add(fmt.Sprintf("%s committed %s after %d had been committed", s.ask.Proc,
					place(p.Topic, p.Partition, p.Offset), was.offset),
					was.seq, s.ask.Seq, s.answer.Seq)
			}
		}
	}
	for _, s := range answered {
		take(s.answer)
	}
	for _, c := range model.Audit(h).Commits {
		was, ok := most[partitionName{Topic: c.Topic, Partition: c.Partition}]
		if ok && c.Group == group && c.Offset >= 0 && c.Offset < was.offset {
			f.add(fmt.Sprintf("the audit found %s after %d had been committed",
				place(c.Topic, c.Partition, c.Offset), was.offset), was.seq, c.Seq)
		}
	}
}
