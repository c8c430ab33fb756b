package props_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/props"
)

// filled replaces the words that make the histories here short: what a database and its
// topic say at the end.
func filled(history string) string {
	return strings.NewReplacer(
		"COMMIT-B", "app/0 life 1 return commit 1 done lsn=B/0 "+
			"[enrollment/0 {id=B/1 key=ada/go cell=enrolled}] [outbox/0 {@2 id=A/1 key=ada/go}]",
		"COMMIT-D", "app/0 life 1 return commit 2 done lsn=D/0 "+
			"[enrollment/0 {id=D/1 key=ada/go cell=dropped}] [outbox/0 {@1 id=C/1 key=ada/go}]",
		"ROW-B", "- observe row key=ada/go lsn=B/1 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]",
		"ROW-D", "- observe row key=ada/go lsn=D/1 [enrollment/0 {id=D/1 key=ada/go cell=dropped}]",
		"OUT-A", "- observe outbox key=ada/go lsn=B/0 [outbox/0 {@2 id=A/1 key=ada/go cell=enrolled}]",
		"OUT-C", "- observe outbox key=ada/go lsn=D/0 [outbox/0 {@1 id=C/1 key=ada/go cell=dropped}]",
		"SLOT", "- observe slot key=slot",
		"LOG-0", "- observe log [t/0 @0",
	).Replace(history)
}

func checkFilled(t *testing.T, p props.Property, edges []edge) {
	t.Helper()
	for i := range edges {
		edges[i].history = filled(edges[i].history)
	}
	checkEdges(t, p, edges)
}

func TestPublishedOrPendingEdges(t *testing.T) {
	checkFilled(t, props.PublishedOrPending("t", props.FromLog), []edge{
		{"a slot that is lost keeps nothing", `
1 1s COMMIT-B
2 9s SLOT lsn=A/0 note=lost
3 9s LOG-0 end=0]
`, []string{"and the slot is lost"}},
		{"the commit's answer was lost, and so is the change", `
1 1s app/0 life 1 return commit 1 unknown lsn=B/0 [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=0]
`, []string{"change B/1 of ada/go (enrolled) is not in t"}},
		{"a commit that was refused", `
1 1s app/0 life 1 return commit 1 not-done err=deadlock [enrollment/0 {id=B/1 key=ada/go cell=enrolled}]
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=0]
`, nil},
		{"retention may have taken it", `
1 1s COMMIT-B
2 9s SLOT lsn=C/0 note=reserved
3 9s - observe log [t/0 @4 end=4]
`, nil},
		{"nobody looked at the slot", "1 1s COMMIT-B\n2 9s LOG-0 end=0]\n", nil},
		{"it stands in an aborted transaction alone", `
1 1s COMMIT-B
2 9s SLOT lsn=C/0 note=reserved
3 9s LOG-0 end=2 {@0 aborted id=B/1 key=ada/go} {@1 abort}]
`, []string{"change B/1 of ada/go"}},
	})
	checkFilled(t, props.PublishedOrPending("t", props.FromOutbox), []edge{
		{"one of two", `
1 9s OUT-A (published 1)
2 9s OUT-C (published 1)
3 9s LOG-0 end=1 {@0 id=A/1 key=ada/go}]
`, []string{"change C/1 of ada/go (dropped) is not in t, and its row is marked as published"}},
	})
}

func TestOrderPerKeyEdges(t *testing.T) {
	checkFilled(t, props.OrderPerKey("t", props.FromOutbox), []edge{
		{"by commits, not by ids", `
1 9s OUT-A (published 1)
2 9s OUT-C (published 1)
3 9s LOG-0 end=2 {@0 id=A/1 key=ada/go} {@1 id=C/1 key=ada/go}]
`, nil},
		{"in two partitions", `
1 9s OUT-A (published 1)
2 9s OUT-C (published 1)
3 9s LOG-0 end=1 {@0 id=A/1 key=ada/go}]
4 9s - observe log [t/1 @0 end=1 {@0 id=C/1 key=ada/go}]
`, []string{"ada/go has changes in partitions 0 and 1 of t"}},
		{"a second copy of the first, after the second", `
1 9s OUT-A (published 1)
2 9s OUT-C (published 1)
3 9s LOG-0 end=3 {@0 id=A/1 key=ada/go} {@1 id=C/1 key=ada/go} {@2 id=A/1 key=ada/go}]
`, nil},
		{"what no database has committed", `
1 9s OUT-A (published 1)
2 9s LOG-0 end=2 {@0 id=Z/1 key=ada/go} {@1 id=A/1 key=ada/go}]
`, nil},
	})
}

func TestConfirmWithinAckedEdges(t *testing.T) {
	checkFilled(t, props.ConfirmWithinAcked("t"), []edge{
		{"a confirmation that was refused", `
1 1s COMMIT-B
2 2s p/0 life 1 call confirm 1 lsn=C/0
3 2s p/0 life 1 return confirm 1 not-done of=2 err=no-stream lsn=C/0
`, nil},
		{"its answer was lost, and it took effect", `
1 1s COMMIT-B
2 2s p/0 life 1 call confirm 1 lsn=C/0
3 2s p/0 life 1 return confirm 1 unknown of=2 lsn=C/0
`, []string{"p/0 life 1 confirmed C/0 when change B/1"}},
		{"the append was refused", `
1 1s COMMIT-B
2 2s p/0 life 1 reply Produce 1 not-done [t/0 err=NOT_LEADER_OR_FOLLOWER {id=B/1}]
3 3s p/0 life 1 return confirm 1 done lsn=C/0
`, []string{"was not in t"}},
		{"a copy that the audit alone knows", `
1 1s COMMIT-B
2 3s p/0 life 1 return confirm 1 done lsn=C/0
3 9s LOG-0 end=1 {@0 id=B/1 key=ada/go}]
`, nil},
		{"of what commits later", `
1 2s p/0 life 1 call confirm 1 lsn=C/0
2 2s COMMIT-B
3 2s p/0 life 1 return confirm 1 done of=1 lsn=C/0
`, nil},
		{"each change is told of once", `
1 1s COMMIT-B
2 2s p/0 life 1 return confirm 1 done lsn=C/0
3 3s p/0 life 1 return confirm 2 done lsn=C/0
`, []string{"confirmed C/0"}},
	})
}

func TestFoldEdges(t *testing.T) {
	const published = `
1 1s COMMIT-B
2 2s COMMIT-D
3 9s ROW-D
4 9s LOG-0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=D/1 key=ada/go cell=dropped}]
`
	checkFilled(t, props.FoldEqualsDatabase("t", "x", props.FromLog), []edge{
		{"it has not read all", published + `5 9s SLOT lsn=E/0 note=reserved
6 9s - observe object key=x/0 [t/0 @1 {id=B/1 key=ada/go cell=enrolled}]
`, nil},
		{"there is no snapshot", published + "5 9s SLOT lsn=E/0 note=reserved\n", nil},
		{"records under other names: the row decides", `
1 1s COMMIT-B
2 2s COMMIT-D
3 9s ROW-D
4 9s LOG-0 end=2 {@0 id=Y/1 key=ada/go cell=enrolled} {@1 id=X/1 key=ada/go cell=dropped}]
5 9s SLOT lsn=E/0 note=reserved
6 9s - observe object key=x/0 [t/0 @2 {id=Y/1 key=ada/go cell=enrolled}]
`, []string{"ada/go is enrolled by the fold, and dropped by the last published commit"}},
		{"a key that the database does not have", published + `5 9s SLOT lsn=E/0 note=reserved
6 9s - observe object key=x/0 [t/0 @2 {id=D/1 key=ada/go cell=dropped} {id=D/1 key=b/go cell=enrolled}]
`, []string{"b/go is enrolled by the fold, and nothing by the last published commit"}},
		{"the reader says something else than the snapshots", published + `5 8s l/0 life 1 note cohort ("enrolled ada/go" 1)
6 9s SLOT lsn=E/0 note=reserved
7 9s - observe object key=x/0 [t/0 @2 {id=D/1 key=ada/go cell=dropped}]
`, []string{"l/0 reports 1 for ada/go, which is dropped"}},
		{"in two partitions the later one counts", published + `5 9s SLOT lsn=E/0 note=reserved
6 9s - observe object key=x/0 [t/0 @2 {id=B/1 key=ada/go cell=enrolled}]
7 9s - observe object key=x/1 [t/1 @0 {id=D/1 key=ada/go cell=dropped}]
`, nil},
	})
	checkFilled(t, props.EqualLSNNoOp("t", "x"), []edge{
		{"a smaller position is dropped", `
1 9s LOG-0 end=2 {@0 id=D/1 key=ada/go cell=dropped} {@1 id=B/1 key=ada/go cell=enrolled}]
2 9s - observe object key=x/0 [t/0 @2] ("seats go" 1)
`, []string{"x/0 counts 1 seats in go, and the changes below offset 2 of t/0 make 0"}},
		{"only what is below the offset", `
1 9s LOG-0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=D/1 key=ada/go cell=dropped}]
2 9s - observe object key=x/0 [t/0 @1] ("seats go" 1)
`, nil},
		{"a record that is no change", `
1 9s LOG-0 end=2 {@0 id=B/1 key=ada/go cell=enrolled} {@1 id=x key=ada/go class=not-json}]
2 9s - observe object key=x/0 [t/0 @2] ("seats go" 1) (skipped 1)
`, nil},
	})
}

func TestSlotAlertEdges(t *testing.T) {
	checkFilled(t, props.SlotAlert(100, time.Minute), []edge{
		{"well again in time", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 40s m/0 life 1 return slot 2 done key=slot (retained 7) note=reserved
3 300s SLOT (retained 7) note=reserved
`, nil},
		{"at the limit is not over it", "1 1s m/0 life 1 return slot 1 done key=slot (retained 100) " +
			"note=reserved\n2 300s SLOT (retained 100) note=reserved\n", nil},
		{"the state alone", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 7) note=unreserved
2 300s SLOT (retained 7) note=unreserved
`, []string{"the slot (unreserved) held back 7 bytes at 1s"}},
		{"too late", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 70s m/0 life 1 return slot 2 done key=slot (retained 101) note=reserved
3 71s m/0 life 1 alert slot-limit
`, []string{"nobody was called within 1m0s"}},
		{"an alert about something else", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 2s m/0 life 1 alert slot-unknown
3 300s SLOT (retained 101) note=reserved
`, []string{"nobody was called"}},
		{"nobody ever looked", "1 300s SLOT (retained 101) note=reserved\n",
			[]string{"the slot (reserved) held back 101 bytes"}},
		{"again, after it was well", `
1 1s m/0 life 1 return slot 1 done key=slot (retained 101) note=reserved
2 1s m/0 life 1 alert slot-limit
3 2s m/0 life 1 return slot 2 done key=slot (retained 7) note=reserved
4 3s m/0 life 1 return slot 3 done key=slot (retained 101) note=reserved
5 300s SLOT (retained 101) note=reserved
`, []string{"held back 101 bytes at 3s"}},
	})
}

func TestSometimesEnrollment(t *testing.T) {
	checkSometimes(t, []sometimes{
		{
			props.SometimesInterleaved(),
			filled("1 1s COMMIT-B\n2 2s COMMIT-D\n"),
			filled("1 1s COMMIT-D\n2 2s COMMIT-B\n"),
		},
		{
			props.SometimesServerCrash(),
			"1 1s a/0 life 1 fault note=\"database a/0 life 1 at call claim 1 crashes\"\n",
			"1 1s a/0 life 1 fault note=\"outage a/0 life 1 at request Produce 1 for 2s\"\n",
		},
	})
}
