package props_test

import (
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/props"
)

// TestChangesToldOtherwise: a change is known by the commit, by what the stream handed
// out, or by the row that the audit found, and only by its position and its key.
func TestChangesToldOtherwise(t *testing.T) {
	checkFilled(t, props.PublishedOrPending("t", props.FromLog), []edge{
		{"a commit without a position, as a server that has no witness gives", `
1 1s app/0 life 1 return commit 1 done [enrollment/0 {key=ada/go cell=enrolled}]
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=0]
`, nil},
		{"the stream alone tells of it", `
1 1s p/0 life 1 return next 1 done key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=0]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"the row alone tells of it", `
1 1s app/0 life 1 return commit 1 unknown err=closed [enrollment/0 {key=ada/go cell=enrolled}]
2 9s ROW-B
3 9s SLOT lsn=C/0 note=reserved
4 9s LOG-0 end=0]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"told three times, lost once", `
1 1s COMMIT-B
2 1s p/0 life 1 return next 1 done key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
3 9s ROW-B
4 9s SLOT lsn=C/0 note=reserved
5 9s LOG-0 end=0]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"what stands there is no change", `
1 1s COMMIT-B
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=1 {@0 id=B/1 key=ada/go class=bad-op}]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"under another key", `
1 1s COMMIT-B
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=1 {@0 id=B/1 key=tim/go cell=enrolled}]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"the commit that the slot stands at is still to come", `
1 1s COMMIT-B
2 9s SLOT lsn=B/0 note=reserved
3 9s LOG-0 end=0]
`, nil},
	})
}

// TestSameSource: two transactions may find the log at one position when they insert
// their outbox rows; their keys tell them apart.
func TestSameSource(t *testing.T) {
	const rows = `
1 9s - observe outbox key=ada/go lsn=B/0 [outbox/0 {@1 id=A/1 key=ada/go cell=enrolled}] (published 1)
2 9s - observe outbox key=tim/go lsn=C/0 [outbox/0 {@2 id=A/1 key=tim/go cell=enrolled}] (published 1)
`
	checkFilled(t, props.PublishedOrPending("t", props.FromOutbox), []edge{
		{"one of them is lost", rows + "3 9s LOG-0 end=1 {@0 id=A/1 key=tim/go cell=enrolled}]\n",
			[]string{"change A/1 of ada/go"}},
	})
	checkFilled(t, props.OrderPerKey("t", props.FromOutbox), []edge{
		{"each in its partition", rows + `3 9s LOG-0 end=1 {@0 id=A/1 key=ada/go}]
4 9s - observe log [t/1 @0 end=1 {@0 id=A/1 key=tim/go}]
`, nil},
		{"retention took first copies", `
1 9s OUT-A (published 1)
2 9s OUT-C (published 1)
3 9s - observe log [t/0 @1 end=3 {@1 id=C/1 key=ada/go} {@2 id=A/1 key=ada/go}]
`, nil},
	})
	checkFilled(t, props.MarkWithinAcked("t"), []edge{
		{"the other one was appended", `
1 1s p/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=A/1 key=tim/go}]
2 2s p/0 life 1 return mark 1 done [outbox/0 {@1 id=A/1 key=ada/go}]
`, []string{"marked row 1 (A/1 of ada/go)"}},
		{"a row of which no position is told", `
1 2s p/0 life 1 return mark 1 done [outbox/0 {@1 key=ada/go}]
`, nil},
		{"another table's rows", `
1 2s p/0 life 1 return mark 1 done [other/0 {@1 id=A/1 key=ada/go}]
`, nil},
		{"its answer was an error, so nobody knows", `
1 2s p/0 life 1 return mark 1 unknown err=closed [outbox/0 {@1 id=A/1 key=ada/go}]
`, nil},
		{"its answer was lost, and it took effect", `
1 2s p/0 life 1 return mark 1 unknown [outbox/0 {@1 id=A/1 key=ada/go}]
`, []string{"marked row 1"}},
		{"asked for before the append, answered after it", `
1 1s p/0 life 1 call mark 1 [outbox/0 {@1 id=A/1 key=ada/go}]
2 1s p/0 life 1 request Produce 1 [t/0 {id=A/1 key=ada/go}]
3 1s p/0 life 1 reply Produce 1 done of=2 [t/0 @0 {@0 id=A/1 key=ada/go}]
4 2s p/0 life 1 return mark 1 done of=1 [outbox/0 {@1 id=A/1 key=ada/go}]
`, []string{"marked row 1"}},
	})
}

// TestConfirmAndCrash: a server that crashes forgets confirmations. That is no break, and
// it mends none.
func TestConfirmAndCrash(t *testing.T) {
	checkFilled(t, props.ConfirmWithinAcked("t"), []edge{
		{"confirmed, forgotten, published again", `
1 1s COMMIT-B
2 2s p/0 life 1 request Produce 1 [t/0 {id=B/1 key=ada/go}]
3 2s p/0 life 1 reply Produce 1 unknown of=2 [t/0 @0 {@0 id=B/1 key=ada/go}]
4 3s p/0 life 1 return confirm 1 done lsn=C/0
5 4s p/0 life 1 fault lsn=A/0 note="database p/0 life 1 at call next 1 crashes"
6 5s p/0 life 1 request Produce 2 [t/0 {id=B/1 key=ada/go}]
7 5s p/0 life 1 reply Produce 2 done of=6 [t/0 @1 {@1 id=B/1 key=ada/go}]
8 6s p/0 life 1 return confirm 2 done lsn=C/0
`, nil},
		{"confirmed too early, and forgotten in time", `
1 1s COMMIT-B
2 3s p/0 life 1 return confirm 1 done lsn=C/0
3 4s p/0 life 1 fault lsn=A/0 note="database p/0 life 1 at call next 1 crashes"
4 5s p/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=B/1 key=ada/go}]
`, []string{"confirmed C/0 when change B/1"}},
		{"appended in a transaction that was aborted", `
1 1s COMMIT-B
2 2s p/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=p [t/0 @0 {@0 id=B/1 key=ada/go}]
3 3s p/0 life 1 return confirm 1 done lsn=C/0
4 9s LOG-0 end=2 {@0 aborted id=B/1 key=ada/go} {@1 abort}]
`, []string{"confirmed C/0 when change B/1"}},
		{"a row that the audit alone knows: nobody knows when it committed", `
1 3s p/0 life 1 return confirm 1 done lsn=C/0
2 9s ROW-B
`, nil},
		{"the stream handed it out, and the commit's answer never came", `
1 1s p/0 life 1 return next 1 done key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go}]
2 3s p/0 life 1 return confirm 1 done lsn=C/0
`, []string{"confirmed C/0 when change B/1"}},
		{"up to the change and no further", `
1 1s COMMIT-B
2 2s p/0 life 1 return confirm 1 done lsn=B/1
`, []string{"confirmed B/1 when change B/1"}},
		{"only up to the change before", `
1 1s COMMIT-B
2 1s COMMIT-D
3 2s p/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=B/1 key=ada/go}]
4 3s p/0 life 1 return confirm 1 done lsn=B/1
`, nil},
	})
}

// TestFoldWhatWasPublished: the fold answers for what was published, and not for what
// got lost before it.
func TestFoldWhatWasPublished(t *testing.T) {
	checkFilled(t, props.FoldEqualsDatabase("t", "x", props.FromOutbox), []edge{
		{"the last change was marked and never published", `
1 9s ROW-D
2 9s OUT-A (published 1)
3 9s OUT-C (published 1)
4 9s LOG-0 end=1 {@0 id=A/1 key=ada/go cell=enrolled}]
5 9s - observe object key=x/0 [t/0 @1 {id=A/1 key=ada/go cell=enrolled}]
`, nil},
		{"a control record at the end is nothing to fold", `
1 9s ROW-B
2 9s OUT-A (published 1)
3 9s LOG-0 end=2 {@0 id=A/1 key=ada/go cell=enrolled} {@1 commit}]
4 9s - observe object key=x/0 [t/0 @1 {id=A/1 key=ada/go cell=dropped}]
`, []string{"ada/go is dropped by the fold, and enrolled by the last published commit"}},
		{"an older copy came last, and was folded in", `
1 9s ROW-D
2 9s OUT-A (published 1)
3 9s OUT-C (published 1)
4 9s LOG-0 end=3 {@0 id=A/1 key=ada/go cell=enrolled} {@1 id=C/1 key=ada/go cell=dropped} {@2 id=A/1 key=ada/go cell=enrolled}]
5 9s - observe object key=x/0 [t/0 @3 {id=A/1 key=ada/go cell=enrolled}]
`, []string{"ada/go is enrolled by the fold, and dropped by the last published commit"}},
	})
	checkFilled(t, props.FoldEqualsDatabase("t", "x", props.FromLog), []edge{
		{"records under other names, and something is pending", `
1 1s COMMIT-B
2 2s COMMIT-D
3 8s l/0 life 1 note cohort ("enrolled ada/go" 1)
4 9s ROW-D
5 9s LOG-0 end=1 {@0 id=Y/1 key=ada/go cell=enrolled}]
6 9s SLOT lsn=C/0 note=reserved
7 9s - observe object key=x/0 [t/0 @1 {id=Y/1 key=ada/go cell=enrolled}]
`, nil},
		{"in two partitions, the later one first", `
1 1s COMMIT-B
2 2s COMMIT-D
3 9s ROW-D
4 9s LOG-0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=D/1 key=ada/go cell=dropped}]
5 9s SLOT lsn=E/0 note=reserved
6 9s - observe object key=x/0 [t/0 @2 {id=D/1 key=ada/go cell=dropped}]
7 9s - observe object key=x/1 [t/1 @0 {id=B/1 key=ada/go cell=enrolled}]
`, nil},
	})
}

// TestSeatsOfSnapshots judges each snapshot that was ever stored, and no other.
func TestSeatsOfSnapshots(t *testing.T) {
	checkFilled(t, props.EqualLSNNoOp("t", "x"), []edge{
		{"two changes under one position: the first wins", `
1 9s LOG-0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=B/1 key=ada/go cell=dropped}]
2 9s - observe object key=x/0 [t/0 @2] ("seats go" 0)
`, []string{"x/0 counts 0 seats in go, and the changes below offset 2 of t/0 make 1"}},
		{"an object that could not be read", `
1 1s c/0 life 1 return putif 1 done key=x/0 digest=1 [t/0 @1] ("seats go" 2)
2 9s LOG-0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
3 9s - observe object err=timeout key=x/0
`, nil},
		{"a snapshot that was replaced since", `
1 1s c/0 life 1 return putif 1 unknown key=x/0 digest=1 [t/0 @2] ("seats go" 2)
2 2s c/0 life 1 return putif 2 done key=x/0 digest=2 [t/0 @3] ("seats go" 0)
3 9s LOG-0 end=3 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=B/1 key=ada/go cell=enrolled} {@2 id=D/1 key=ada/go cell=dropped}]
4 9s - observe object key=x/0 digest=2 [t/0 @3] ("seats go" 0)
`, []string{"x/0 counts 2 seats in go, and the changes below offset 2 of t/0 make 1"}},
		{"a snapshot that stays is told of once", `
1 1s c/0 life 1 return putif 1 done key=x/0 digest=1 [t/0 @1] ("seats go" 2)
2 9s LOG-0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
3 9s - observe object key=x/0 digest=1 [t/0 @1] ("seats go" 2)
`, []string{"x/0 counts 2 seats in go"}},
		{"a put of another topic's fold", `
1 1s c/0 life 1 return putif 1 done key=x/0 digest=1 [u/0 @1] ("seats go" 2)
2 9s LOG-0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
`, nil},
		{"a snapshot that was refused", `
1 1s c/0 life 1 return putif 1 not-done err=precondition key=x/0 digest=1 [t/0 @1] ("seats go" 2)
2 9s LOG-0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
`, nil},
		{"the snapshots of another fold", `
1 1s c/0 life 1 return putif 1 done key=xy/0 digest=1 [t/0 @1] ("seats go" 2)
2 9s LOG-0 end=1 {@0 id=B/1 key=ada/go cell=enrolled}]
`, nil},
	})
}

// TestSlotAlertUnseen: an answer that got lost is true, and its monitor knows nothing
// of it.
func TestSlotAlertUnseen(t *testing.T) {
	checkFilled(t, props.SlotAlert(100, time.Minute), []edge{
		{"it was well, and the monitor did not see it", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-limit
3 2s m/0 life 1 return slot 2 unknown key=slot (retained 7) note=reserved
4 3s m/0 life 1 return slot 3 done key=slot (retained 101) note=reserved
5 300s m/0 life 1 return slot 4 done key=slot (retained 101) note=reserved
`, nil},
		{"as much as the limit in between is not well", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-limit
3 2s m/0 life 1 return slot 2 done key=slot (retained 100) note=reserved
4 3s m/0 life 1 return slot 3 done key=slot (retained 101) note=reserved
5 300s m/0 life 1 return slot 4 done key=slot (retained 101) note=reserved
`, nil},
		{"the audit finds it full, and it was well a moment ago", `
1 290s m/0 life 1 return slot 1 done key=slot (retained 7) note=reserved
2 300s SLOT (retained 101) note=reserved
`, nil},
		{"the audit finds it full, and nobody has looked for long", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 7) note=reserved
2 300s SLOT (retained 101) note=reserved
`, []string{"the slot (reserved) held back 101 bytes"}},
		{"first over the limit, then lost", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-limit
3 2s m/0 life 1 return slot 2 done key=slot (retained 0) note=lost
4 300s m/0 life 1 return slot 3 done key=slot (retained 0) note=lost
`, []string{"the slot (lost) held back 0 bytes at 2s"}},
		{"told of another danger", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-lost
3 300s m/0 life 1 return slot 2 done key=slot (retained 101) note=reserved
`, []string{"the slot (reserved) held back 101 bytes at 1s"}},
		{"seen again and again, and told of never", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 50s m/0 life 1 return slot 2 done key=slot (retained 102) note=reserved
3 100s m/0 life 1 return slot 3 done key=slot (retained 103) note=reserved
`, []string{"the slot (reserved) held back 101 bytes at 1s"}},
		{"more than max_wal_size is no danger by itself", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 7) note=extended
2 300s m/0 life 1 return slot 2 done key=slot (retained 7) note=extended
`, nil},
		{"told of each", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-limit
3 2s m/0 life 1 return slot 2 done key=slot (retained 0) note=lost
4 2s m/0 life 1 alert slot-lost
5 300s m/0 life 1 return slot 3 done key=slot (retained 0) note=lost
`, nil},
		{"found full by one who died of it, and by the next", `
1 1s m/0 life 1 return slot 1 unknown key=slot (retained 101) note=reserved
2 1s m/0 life 1 crash
3 9s m/0 life 2 return slot 1 done key=slot (retained 101) note=reserved
4 9s m/0 life 2 alert slot-limit
5 300s m/0 life 2 return slot 9 done key=slot (retained 101) note=reserved
`, nil},
		{"an answer that is an error says nothing", `
1 1s m/0 life 1 return slot 1 not-done err=closed key=slot (retained 101) note=reserved
2 300s SLOT (retained 7) note=reserved
`, nil},
	})
}

func TestSeatCountsEdges(t *testing.T) {
	// Ada enrolled and dropped, and Tim is enrolled: one seat.
	report := func(seats, slot, offset string) string {
		return `
1 1s COMMIT-B
2 2s COMMIT-D
3 8s l/0 life 1 note cohort ("seats go" ` + seats + `)
4 9s ROW-D
5 9s - observe row key=tim/go lsn=B/2 [enrollment/0 {id=B/2 key=tim/go cell=enrolled}]
6 9s SLOT ` + slot + `
7 9s - observe object key=x/0 [t/0 @` + offset + `]
8 9s LOG-0 end=3 {@0 id=B/1 key=ada/go} {@1 id=B/2 key=tim/go} {@2 id=D/1 key=ada/go}]
`
	}
	const confirmed = "lsn=E/0 note=reserved"
	checkFilled(t, props.SeatCounts("t", "x", props.FromLog), []edge{
		{"who dropped has no seat", report("1", confirmed, "3"), nil},
		{"who dropped has one still", report("2", confirmed, "3"),
			[]string{"go has 2 seats by the fold, and 1 enrolled in the database"}},
		{"something is pending", report("2", "lsn=C/0 note=reserved", "3"), nil},
		{"nobody looked at the slot", report("2", "err=timeout", "3"), nil},
		{"not all is folded in", report("2", confirmed, "2"), nil},
	})
	checkFilled(t, props.SeatCounts("t", "x", props.FromOutbox), []edge{
		{"retention took what the fold never saw", `
1 8s l/0 life 1 note cohort
2 9s ROW-B
3 9s OUT-A (published 1)
4 9s - observe log [t/0 @1 end=1]
5 9s - observe object key=x/0 [t/0 @1]
`, nil},
	})
}
