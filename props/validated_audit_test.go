package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestExactlyOnceEdges(t *testing.T) {
	checkEdges(t, props.ExactlyOnce("in", "out", "g"), exactlyOnceEdges)
}

var exactlyOnceEdges = []edge{
	{"nothing yet", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=0]
`, nil},
	{"no commit, and output", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=1 {@0 id=a from=in/0@0}]
`, []string{"in/0@0 (id a) is in the output at out/0@0, ahead of g, which has no commit"}},
	{"length one, caught up, and a commit that could not be read", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [in/1 @0 end=1 {@0 id=b}]
3 9s - observe log [out/0 @0 end=2 {@0 id=a from=in/0@0} {@1 id=b from=in/1@0}]
4 9s - observe commit group=g [in/0 @1]
5 9s - observe commit group=g err=COORDINATOR_NOT_AVAILABLE
`, nil},
	{"first and last are missing", `
1 9s - observe log [in/0 @0 end=3 {@0 id=a} {@1 id=b} {@2 id=c}]
2 9s - observe log [out/0 @0 end=1 {@0 id=b from=in/0@1}]
3 9s - observe commit group=g [in/0 @3]
`, []string{"in/0@0 (id a) has no committed", "in/0@2 (id c) has no committed"}},
	{"aborted output is none", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=2 {@0 aborted id=a from=in/0@0} {@1 abort}]
3 9s - observe commit group=g [in/0 @1]
`, []string{"in/0@0 (id a) has no committed record in out, and g committed 1"}},
	{"a rejected record, a marker and aborted input", `
1 9s - observe log [in/0 @0 end=4 {@0 id=a class=no-json} {@1 commit} {@2 aborted id=c} {@3 abort}]
2 9s - observe log [out/0 @0 end=2 {@0 id=a from=in/0@0} {@1 id=c from=in/0@2}]
3 9s - observe commit group=g [in/0 @4]
`, []string{
		"in/0@0 became out/0@0, and the input holds a record that the contract rejects (no-json)",
		"in/0@2 became out/0@1, and the input holds id c of an aborted transaction",
	}},
	{"three copies in two partitions", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=2 {@0 id=a from=in/0@0} {@1 id=a from=in/0@0}]
3 9s - observe log [out/1 @0 end=1 {@0 id=a from=in/0@0}]
4 9s - observe commit group=g [in/0 @1]
`, []string{"in/0@0 (id a) has 3 committed records: out/0@0, out/0@1, out/1@0"}},
	{"another id, key and bytes", `
1 9s - observe log [in/0 @0 end=3 {@0 id=a} {@1 id=b key=k} {@2 id=c digest=d1}]
2 9s - observe log [out/0 @0 end=3 {@0 id=z from=in/0@0} {@1 id=b from=in/0@1} {@2 id=c digest=d2 from=in/0@2}]
3 9s - observe commit group=g [in/0 @3]
`, []string{
		"in/0@0 (id a) became out/0@0 with id z",
		`in/0@1 (id b) became out/0@1 with key "" for "k"`,
		"in/0@2 (id c) became out/0@2 with other bytes",
	}},
	{"below the log start of the input", `
1 9s - observe log [in/0 @1 end=2 {@1 id=b}]
2 9s - observe log [out/0 @0 end=3 {@0 id=a from=in/0@0} {@1 id=a from=in/0@0} {@2 id=b from=in/0@1}]
3 9s - observe commit group=g [in/0 @2]
`, nil},
	{"retention took the output", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 id=a from=in/0@0}]
2 9s - observe log [in/0 @0 end=2 {@0 id=a} {@1 id=b}]
3 9s - observe log [out/0 @2 end=2]
4 9s - observe commit group=g [in/0 @2]
`, []string{"in/0@1 (id b) has no committed record in out"}},
	{"a transaction that nobody ended, before one that committed", `
1 9s - observe log [in/0 @0 end=3 {@0 id=a} {@1 id=b} {@2 id=c}]
2 9s - observe log [out/0 @0 end=4 stable=0 {@0 id=c from=in/0@2 producer=2} {@1 id=a from=in/0@0 producer=1} {@2 commit producer=1} {@3 id=b from=in/0@1 producer=1}]
3 9s - observe commit group=g [in/0 @2]
`, nil},
	{"output that could not be read in full, and none of it", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=0]
3 9s - observe log [out/1 err=NOT_LEADER_FOR_PARTITION]
4 9s - observe commit group=g [in/0 @1]
`, nil},
	{"another topic, group and partition", `
1 9s - observe log [in/0 @0 end=1 {@0 id=a}]
2 9s - observe log [out/0 @0 end=2 {@0 id=a from=u/0@0} {@1 id=a from=in/7@0}]
3 9s - observe commit group=h [in/0 @1]
4 9s - observe commit group=g [in/1 @1]
`, nil},
}

func TestOrderPerPartitionEdges(t *testing.T) {
	checkEdges(t, props.OrderPerPartition("in", "out"), []edge{
		{"one twice, and a range again", `
1 9s - observe log [out/0 @0 end=5 {@0 from=in/0@1} {@1 from=in/0@1} {@2 from=in/0@2} {@3 from=in/0@1} {@4 from=in/0@2}]
`, []string{
			"out/0@1 comes from in/0@1, after out/0@0 from in/0@1",
			"out/0@3 comes from in/0@1, after out/0@2 from in/0@2",
		}},
		{"aborted, never ended, and another topic", `
1 9s - observe log [out/0 @0 end=5 stable=4 {@0 aborted from=in/0@4} {@1 abort} {@2 from=u/0@9} {@3 from=in/0@1} {@4 from=in/0@0 producer=2}]
`, nil},
		{"partitions stand alone", `
1 9s - observe log [out/0 @0 end=2 {@0 from=in/0@4} {@1 from=in/1@3}]
2 9s - observe log [out/1 @0 end=1 {@0 from=in/0@3}]
`, nil},
	})
}

func TestNoAbortedVisibleEdges(t *testing.T) {
	checkEdges(t, props.NoAbortedVisible("out", "reader"), []edge{
		{"a marker, what nobody ended, and what retention took", `
1 1s reader/0 life 1 note seen [out/0 {@1 id=a}]
2 1s reader/0 life 1 note seen [out/0 {@2 id=b}]
3 1s reader/0 life 1 note seen [out/0 {@3 id=c}]
4 9s - observe log [out/0 @2 end=4 stable=3 {@2 commit producer=1} {@3 id=c producer=2}]
`, []string{
			"reader/0 life 1 saw out/0@2, which is a control record",
			"reader/0 life 1 saw out/0@3, which is id c of a transaction that never ended",
		}},
		{"one again, and back, without an audit", `
1 1s reader/0 life 1 note seen [out/0 {@4 id=a}]
2 1s reader/0 life 1 note seen [out/0 {@4 id=a}]
3 1s reader/0 life 1 note seen [out/0 {@3 id=b}]
`, []string{
			"reader/0 life 1 saw out/0@4 after out/0@4",
			"reader/0 life 1 saw out/0@3 after out/0@4",
		}},
		{"lives, partitions, topics and processes", `
1 1s reader/0 life 1 note seen [out/0 {@4 id=a}]
2 1s reader/0 life 1 note seen [out/1 {@3 id=a}]
3 1s reader/0 life 1 note seen [u/0 {@0 id=a}]
4 1s reader/0 life 2 note seen [out/0 {@2 id=a}]
5 1s reader/1 life 1 note seen [out/0 {@3 id=a}]
6 1s peek/0 life 1 note seen [out/0 {@0 id=a}]
7 9s - observe log [out/0 @0 end=2 {@0 aborted id=a} {@1 abort}]
`, nil},
	})
	checkEdges(t, props.NoAbortedVisible("out"), []edge{{"every process, where none is named", `
1 1s peek/0 life 1 note seen [out/0 {@0 id=a}]
2 9s - observe log [out/0 @0 end=2 {@0 aborted id=a} {@1 abort}]
`, []string{"peek/0 life 1 saw out/0@0, which is id a of an aborted transaction"}}})
}

func TestSeenOnceEdges(t *testing.T) {
	checkEdges(t, props.SeenOnce("out", "reader"), []edge{
		{"two readers, each at another offset", `
1 1s reader/0 life 1 note seen [out/0 {@1 id=a from=in/0@0}]
2 1s reader/1 life 1 note seen [out/0 {@4 id=a from=in/0@0}]
`, []string{"in/0@0 (id a) was seen at out/0@1 by reader/0 and at out/0@4 by reader/1"}},
		{"an aborted copy does not count, before or after", `
1 1s reader/0 life 1 note seen [out/0 {@0 id=a from=in/0@0}]
2 1s reader/0 life 1 note seen [out/0 {@2 id=a from=in/0@0}]
3 1s reader/0 life 1 note seen [out/0 {@4 id=a from=in/0@0}]
4 9s - observe log [out/0 @0 end=6 {@0 aborted id=a} {@1 abort} {@2 id=a} {@3 commit} {@4 aborted id=a} {@5 abort}]
`, nil},
		{"origins, none, other processes and topics", `
1 1s reader/0 life 1 note seen [out/0 {@0 id=a from=in/0@0}]
2 1s reader/0 life 1 note seen [out/0 {@1 id=a from=in/1@0}]
3 1s reader/0 life 1 note seen [out/0 {@2 id=a}]
4 1s reader/0 life 1 note seen [out/0 {@3 id=a}]
5 1s peek/0 life 1 note seen [out/0 {@4 id=a from=in/0@0}]
6 1s reader/0 life 1 note seen [u/0 {@5 id=a from=in/0@0}]
`, nil},
	})
}
