package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestCommitWithinResolvedEdges(t *testing.T) {
	checkEdges(t, props.CommitWithinResolved("t", "g", "d"), resolvedEdges)
}

var resolvedEdges = []edge{
	{"the answer of a paused process comes after another's commit", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 2s landing/0 life 1 call put 1 key=k digest=d1 [t/0 {@0 id=a}]
3 3s landing/1 life 1 request OffsetCommit 1 group=g [t/0 @1]
4 3s landing/1 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
5 9s landing/0 life 1 return put 1 done key=k digest=d1 [t/0 {@0 id=a}]
`, nil},
	{"a call that never took effect resolves nothing", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 2s landing/0 life 1 call put 1 not-done key=k digest=d1 [t/0 {@0 id=a}]
3 2s landing/0 life 1 return put 1 not-done err=SlowDown key=k digest=d1 [t/0 {@0 id=a}]
4 3s landing/0 life 1 request OffsetCommit 1 group=g [t/0 @1]
5 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
6 4s landing/0 life 1 call put 2 key=k digest=d1 [t/0 {@0 id=a}]
7 4s landing/0 life 1 return put 2 done key=k digest=d1 [t/0 {@0 id=a}]
`, []string{"landing/0 committed t/0@1 when t/0@0 (id a) was in no object"}},
	{"a lost answer is a put all the same", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 2s landing/0 life 1 return put 1 unknown key=k digest=d1 [t/0 {@0 id=a}]
3 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
`, nil},
	{"a time-out hid the put, and a get found it", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 2s landing/0 life 1 call putif 1 key=k digest=d1 [t/0 {@0 id=a}]
3 2s landing/0 life 1 return putif 1 unknown err=timeout key=k digest=d1 [t/0 {@0 id=a}]
4 2s landing/0 life 1 call putif 2 key=k digest=d1 [t/0 {@0 id=a}]
5 2s landing/0 life 1 return putif 2 not-done err=precondition key=k digest=d1 [t/0 {@0 id=a}]
6 2s landing/0 life 1 return get 1 done key=k digest=d1
7 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
`, nil},
	{"a get found other bytes", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 2s landing/0 life 1 call putif 1 key=k digest=d1 [t/0 {@0 id=a}]
3 2s landing/0 life 1 return putif 1 unknown err=timeout key=k digest=d1 [t/0 {@0 id=a}]
4 2s landing/0 life 1 return get 1 done key=k digest=d0
5 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
`, []string{"landing/0 committed t/0@1 when t/0@0 (id a)"}},
	{"a refused commit passes nothing", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a}]
2 3s landing/0 life 1 reply OffsetCommit 1 not-done group=g [t/0 @1 err=ILLEGAL_GENERATION]
3 3s landing/0 life 1 request OffsetCommit 2 not-done group=g [t/0 @1]
4 3s landing/0 life 1 reply OffsetCommit 2 done group=h [t/0 @1]
`, nil},
	{"dead letter before, after and refused", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a} {@1 id=b}]
2 2s landing/0 life 1 reply Produce 1 unknown [d/0 @0 {@0 id=x from=t/0@0}]
3 2s landing/0 life 1 reply Produce 2 not-done [d/0 err=NOT_ENOUGH_REPLICAS {id=x from=t/0@1}]
4 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
5 3s landing/0 life 1 reply OffsetCommit 2 done group=g [t/0 @2]
6 4s landing/0 life 1 reply Produce 3 done [d/0 @1 {@1 id=x from=t/0@1}]
`, []string{"landing/0 committed t/0@2 when t/0@1 (id b)"}},
	{"a gap is told once, the next one too", `
1 1s world/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a} {@1 id=b}]
2 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
3 3s landing/0 life 1 reply OffsetCommit 2 done group=g [t/0 @2]
4 4s landing/0 life 1 return put 1 done key=k digest=d1 [t/0 {@0 id=a}]
5 5s landing/0 life 1 reply OffsetCommit 3 done group=g [t/0 @2]
`, []string{"committed t/0@1 when t/0@0 (id a)", "committed t/0@2 when t/0@1 (id b)"}},
	{"markers, aborted data, holes and what retention took are no gaps", `
1 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @7]
2 9s - observe log [t/0 @2 end=7 {@1 id=a} {@2 commit} {@3 aborted id=b} {@4 abort}]
`, nil},
	{"a hole or reject line alone resolves nothing", `
1 1s landing/0 life 1 return put 1 done key=k digest=d1 [t/0 {@0 hole}]
2 2s landing/0 life 1 return put 2 done key=l digest=d2 [t/1 {@0 reject}]
3 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1] [t/1 @1]
4 9s - observe log [t/0 @0 end=1 {@0 id=a}]
5 9s - observe log [t/1 @0 end=1 {@0 id=b}]
`, []string{"t/0@0 (id a)", "t/1@0 (id b)"}},
	{"the end, and past it", `
1 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @0]
2 3s landing/0 life 1 reply OffsetCommit 2 done group=g [t/0 @1]
3 9s - observe log [t/0 @0 end=0]
`, []string{"landing/0 committed t/0@1, past the end of the log at 0"}},
	{"aborted or not, a transaction's records need the audit", `
1 1s p/0 life 1 reply Produce 1 done txn=x [t/0 @0 {@0 id=a}]
2 3s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @1]
`, nil},
}

func TestCommitMonotonicEdges(t *testing.T) {
	checkEdges(t, props.CommitMonotonic("g"), []edge{
		{"the answer of a paused process comes late", `
1 1s landing/0 life 1 request OffsetCommit 1 group=g [t/0 @5]
2 2s landing/1 life 1 request OffsetCommit 1 group=g [t/0 @9]
3 2s landing/1 life 1 reply OffsetCommit 1 done group=g [t/0 @9]
4 8s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @5]
`, nil},
		{"a zombie asks late and is let through", `
1 1s landing/0 life 1 request OffsetCommit 1 group=g gen=-1 [t/0 @5]
2 2s landing/1 life 1 request OffsetCommit 1 group=g [t/0 @9]
3 2s landing/1 life 1 reply OffsetCommit 1 done group=g [t/0 @9]
4 8s landing/0 life 1 request OffsetCommit 2 group=g gen=-1 [t/0 @5]
5 8s landing/0 life 1 reply OffsetCommit 2 unknown group=g gen=-1 [t/0 @5]
`, []string{"landing/0 committed t/0@5 after 9 had been committed"}},
		{"partitions, groups and refusals", `
1 1s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @5]
2 1s landing/0 life 1 reply OffsetCommit 2 done group=g [t/1 @4] [u/0 @4]
3 1s landing/0 life 1 reply OffsetCommit 3 done group=h [t/0 @4]
4 1s landing/0 life 1 reply OffsetCommit 4 not-done err=NOT_COORDINATOR group=g [t/0 @4]
5 1s landing/0 life 1 reply OffsetCommit 5 not-done group=g [t/0 @4 err=ILLEGAL_GENERATION]
`, nil},
		{"the audit finds less", `
1 1s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @5]
2 9s - observe commit group=g [t/0 @4]
`, []string{"the audit found t/0@4 after 5 had been committed"}},
		{"the offset expired", `
1 1s landing/0 life 1 reply OffsetCommit 1 done group=g [t/0 @5]
2 9s - observe commit group=g [t/0]
`, nil},
	})
}

func TestRerunEdges(t *testing.T) {
	checkEdges(t, props.RerunSameBytes("t/"), []edge{
		{"the answer of a paused process comes late", `
1 1s landing/0 life 1 call putif 1 key=t/0 digest=d1 [t/0 {@0 id=a}]
2 2s landing/1 life 1 call putif 1 key=t/0 digest=d2 [t/0 {@0 id=a} {@1 id=b}]
3 2s landing/1 life 1 return putif 1 done key=t/0 digest=d2 [t/0 {@0 id=a} {@1 id=b}]
4 8s landing/0 life 1 return putif 1 done key=t/0 digest=d1 [t/0 {@0 id=a}]
`, nil},
		{"a condition that refused", `
1 1s landing/1 life 1 return putif 1 done key=t/0 digest=d2 [t/0 {@0 id=a} {@1 id=b}]
2 2s landing/0 life 1 return putif 1 not-done err=precondition key=t/0 digest=d1 [t/0 {@0 id=a}]
`, nil},
		{"shorter, with a condition", `
1 1s landing/1 life 1 return putif 1 done key=t/0 digest=d2 [t/0 {@0 id=a} {@1 id=b}]
2 2s landing/0 life 1 return putif 1 unknown key=t/0 digest=d1 [t/0 {@0 id=a}]
`, []string{"landing/0 put other bytes under t/0: lines 1 over 2, digest d1 over d2"}},
		{"longer, without one", `
1 1s landing/0 life 1 return put 1 done key=t/0 digest=d1 [t/0 {@0 id=a}]
2 2s landing/0 life 1 return put 2 done key=t/0 digest=d2 [t/0 {@0 id=a} {@1 id=b}]
`, []string{"landing/0 put more under t/0 without a condition: lines 2 over 1"}},
		{"longer, with another beginning", `
1 1s landing/0 life 1 return putif 1 done key=t/0 digest=d1 [t/0 {@0 id=a}]
2 2s landing/0 life 1 return putif 2 done key=t/0 digest=d2 [t/0 {@0 reject} {@1 id=b}]
`, []string{"put other bytes under t/0: lines 2 over 1"}},
		{"the same lines, other bytes", `
1 1s landing/0 life 1 return putif 1 done key=t/0 digest=d1 [t/0 {@0 id=a}]
2 2s landing/0 life 1 return putif 2 done key=t/0 digest=d2 [t/0 {@0 id=a}]
`, []string{"put other bytes under t/0: lines 1 over 1"}},
		{"lines that are not described", `
1 1s landing/0 life 1 return putif 1 done key=t/0 digest=d1
2 2s landing/0 life 1 return putif 2 done key=t/0 digest=d2
`, []string{"put other bytes under t/0: lines 0 over 0"}},
		{"a key elsewhere", `
1 1s landing/0 life 1 return put 1 done key=u/0 digest=d1
2 2s landing/0 life 1 return put 2 done key=u/0 digest=d2
`, nil},
	})
}
