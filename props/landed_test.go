package props_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestNoLossEdges(t *testing.T) {
	checkEdges(t, props.NoLoss("t", "g", "d"), noLossEdges)
}

var noLossEdges = []edge{
	{"no commit yet", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
`, nil},
	{"commits of -1 and of 0", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [t/1 @0 end=1 {@0 id=b}]
3 9s - observe log [d/0 @0 end=0]
4 9s - observe commit group=g [t/0]
5 9s - observe commit group=g [t/1 @0]
`, nil},
	{"an empty partition", `
1 9s - observe log [t/0 @0 end=0]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @0]
`, nil},
	{"length one, caught up", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
`, []string{"t/0@0 (id a) is in neither object nor dead letter, and g committed 1"}},
	{"first and last are missing", `
1 9s - observe log [t/0 @0 end=3 {@0 id=a} {@1 id=b} {@2 id=c}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @3]
4 9s - observe object key=k [t/0 {@1 id=b}]
`, []string{"t/0@0 (id a) is in neither", "t/0@2 (id c) is in neither"}},
	{"markers, aborted data and holes are no loss", `
1 9s - observe log [t/0 @0 end=6 {@0 aborted id=a} {@1 abort} {@3 id=b} {@4 commit}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @6]
4 9s - observe object key=k [t/0 {@3 id=b}]
`, nil},
	{"below the log start", `
1 9s - observe log [t/0 @2 end=3 {@1 id=b} {@2 id=c}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @3]
4 9s - observe object key=k [t/0 {@2 id=c}]
`, nil},
	{"a hole keeps nothing", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object key=k [t/0 {@0 hole}]
`, []string{"in neither object nor dead letter, and g committed 1; object k says hole there"}},
	{"another id keeps nothing", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object key=k [t/0 {@0 id=z}]
`, []string{"object k has id z there"}},
	{"in both", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=1 {@0 id=x from=t/0@0}]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object key=k [t/0 {@0 id=a}]
`, []string{"t/0@0 (id a) is in both: object k and dead letter d/0@0"}},
	{"several dead letters of one record", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=2 {@0 id=x from=t/0@0} {@1 id=x from=t/0@0}]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object key=k [t/0 {@0 reject}]
`, nil},
	{"retention took the dead letter", `
1 2s landing/0 life 1 reply Produce 1 done [d/0 @0 {@0 id=x from=t/0@0}]
2 9s - observe log [t/0 @0 end=1 {@0 id=a}]
3 9s - observe log [d/0 @1 end=1]
4 9s - observe commit group=g [t/0 @1]
`, nil},
	{"an object that could not be read may hold it", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object err=timeout key=k
`, nil},
	{"the dead letters were not audited", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe commit group=g [t/0 @1]
`, nil},
	{"another group, topic and partition", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=h [t/0 @1]
4 9s - observe commit group=g [t/1 @1]
5 9s - observe commit group=g [u/0 @1]
`, nil},
}

func TestMostWitnesses(t *testing.T) {
	var records strings.Builder
	for i := range 12 {
		fmt.Fprintf(&records, " {@%d id=ev-%d}", i, i)
	}
	h := parse(t, fmt.Sprintf(`
1 9s - observe log [t/0 @0 end=12%s]
2 9s - observe commit group=g [t/0 @12]
`, records.String()))
	got := props.NoLoss("t", "g", "").Check(h)
	const want = "(and 2 more like it)"
	if n := len(got); n != 10 || !strings.HasSuffix(got[n-1].Witness, want) {
		t.Errorf("%d witnesses, wanted 10 of which the last ends in %q: %v", n, want, got)
	}
}

func TestOneObjectEdges(t *testing.T) {
	checkEdges(t, props.OneObjectPerOffset("t"), []edge{
		{"twice in one object", `
1 9s - observe object key=k [t/0 {@0 id=a} {@0 id=a}]
`, []string{"t/0@0 stands twice in object k"}},
		{"rejects and holes take no place", `
1 9s - observe object key=k [t/0 {@0 reject} {@1 hole}]
2 9s - observe object key=l [t/0 {@0 id=a}]
`, nil},
		{"partitions and topics", `
1 9s - observe object key=k [t/0 {@0 id=a}] [t/1 {@0 id=b}]
2 9s - observe object key=l [u/0 {@0 id=a}]
`, nil},
		{"another id", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe object key=k [t/0 {@0 id=z}]
`, []string{"object k has id z for t/0@0, where the log holds id a"}},
		{"aborted data and a marker", `
1 9s - observe log [t/0 @0 end=2 {@0 aborted id=a} {@1 abort}]
2 9s - observe object key=k [t/0 {@0 id=a} {@1 id=b}]
`, []string{"holds id a of an aborted transaction", "holds a control record"}},
		{"retention and compaction took it", `
1 9s - observe log [t/0 @1 end=3 {@2 id=c}]
2 9s - observe object key=k [t/0 {@0 id=a} {@1 id=b} {@2 id=c}]
`, nil},
		{"past the end", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe object key=k [t/0 {@1 id=b}]
`, []string{"object k has id b for t/0@1, where the log holds nothing"}},
	})
}

func TestResendEdges(t *testing.T) {
	checkEdges(t, props.ResendVisible("t", "g", "d"), []edge{
		{"one in an object, one a dead letter", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [t/1 @0 end=1 {@0 id=a}]
3 9s - observe log [d/0 @0 end=1 {@0 id=x from=t/1@0}]
4 9s - observe commit group=g [t/0 @1]
5 9s - observe commit group=g [t/1 @1]
6 9s - observe object key=k [t/0 {@0 id=a}]
`, nil},
		{"the second is not committed yet", `
1 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe object key=k [t/0 {@0 id=a}]
`, nil},
		{"under one offset twice", `
1 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @2]
4 9s - observe object key=k [t/0 {@0 id=a} {@0 id=a}]
`, []string{"id a has 2 copies in the log and 1 in objects and dead letters: t/0@1 is missing"}},
		{"a single copy is another promise", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [d/0 @0 end=0]
3 9s - observe commit group=g [t/0 @1]
`, nil},
	})
}

func TestDrainsEdges(t *testing.T) {
	checkEdges(t, props.Drains("t", "g"), []edge{
		{"never committed", "1 9s - observe log [t/0 @0 end=1 {@0 id=a}]\n",
			[]string{"the last record of t/0 is at 0, and g has no commit"}},
		{"caught up with the end", `
1 9s - observe log [t/0 @0 end=3 {@0 id=a} {@1 aborted id=b} {@2 abort}]
2 9s - observe commit group=g [t/0 @3]
`, nil},
		{"retention took all", "1 9s - observe log [t/0 @4 end=4]\n", nil},
		{"one of two partitions lags", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe log [t/1 @0 end=2 {@0 id=b} {@1 id=c}]
3 9s - observe commit group=g [t/0 @1]
4 9s - observe commit group=g [t/1 @1]
`, []string{"the last record of t/1 is at 1, and g has committed 1"}},
		{"the offset could not be read", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a}]
2 9s - observe commit group=g err=COORDINATOR_NOT_AVAILABLE
`, nil},
	})
}
