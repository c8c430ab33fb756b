package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestBatchWrittenOnceEdges(t *testing.T) {
	checkTile(t, props.BatchWrittenOnce("x"), []edge{
		{"nothing written yet", "1 1s h/0 life 1 return put 1 done key=P/a digest=1\n", nil},
		{"an own write whose answer was lost, and its retry", `
1 1s h/0 life 1 call putif 1 key=S/0 digest=1
2 1s h/0 life 1 return putif 1 unknown of=1 key=S/0 digest=1
3 1s h/0 life 1 call putif 2 key=S/0 digest=1
4 1s h/0 life 1 return putif 2 not-done of=3 err=precondition key=S/0 digest=1
`, nil},
		{"without a condition, the same bytes count twice in the sink log and not in a plan", `
1 1s h/0 life 1 return put 1 unknown key=O/3 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 2 done key=O/3 digest=1 [t/0 @0 end=1]
3 1s h/0 life 1 return put 3 unknown key=S/3 digest=2
4 1s h/0 life 1 return put 4 done key=S/3 digest=2
`, []string{"batch 3 was written to the sink log again: S/3 by h/0 life 1, after S/3 by h/0 life 1"}},
		{"plain and compact", `
1 1s h/0 life 1 return putif 1 done key=S/9 digest=1
2 1s h/1 life 1 return putif 1 done key=S/9.compact digest=2
`, []string{"S/9.compact by h/1 life 1, after S/9 by h/0 life 1"}},
		{"a dead life's put below a compact file", `
1 1s h/0 life 1 crash
2 1s h/0 life 2 return putif 1 done key=S/0 digest=1
3 1s h/0 life 2 return putif 2 done key=S/1.compact digest=2
4 1s h/0 life 2 return delete 1 done key=S/0
5 1s h/0 life 1 return putif 1 unknown key=S/0 digest=3
`, nil},
		{"plain below its own compact file", `
1 1s h/0 life 1 return putif 1 done key=S/1.compact digest=1
2 1s h/1 life 1 return putif 1 done key=S/1 digest=2
`, nil},
		{"a compact file that an operator removed covers nothing", `
1 1s h/0 life 1 return putif 1 done key=S/1.compact digest=1
2 1s op/0 life 1 return delete 1 done key=S/1.compact
3 1s h/0 life 2 return putif 1 done key=S/1 digest=2
`, []string{"S/1 by h/0 life 2, after S/1.compact by h/0 life 1"}},
		{"the same where nothing is compacted: somebody deleted too early", `
1 1s h/0 life 1 crash
2 1s h/0 life 2 return putif 1 done key=S/0 digest=1
3 1s h/0 life 2 return delete 1 done key=S/0
4 1s h/0 life 1 return putif 1 unknown key=S/0 digest=3
`, []string{"S/0 by h/0 life 1, after S/0 by h/0 life 2"}},
	})
}

// TestBatchWrittenOnceOrder: removed plans, late puts, hidden ones.
func TestBatchWrittenOnceOrder(t *testing.T) {
	checkTile(t, props.BatchWrittenOnce("x"), []edge{
		{"planned anew after the checkpoint was removed", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return putif 2 done key=S/0 digest=3
3 2s op/0 life 1 return delete 1 done key=O/0
4 3s h/0 life 2 return putif 1 done key=O/0 digest=2 [t/0 @0 end=4]
`, []string{"h/0 life 2 wrote another plan of batch 0: t/0 [0, 4) over t/0 [0, 1)"}},
		{"the same, before the batch was done", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 2s op/0 life 1 return delete 1 done key=O/0
3 3s h/0 life 2 return putif 1 done key=O/0 digest=2 [t/0 @0 end=4]
`, nil},
		{"a dead life's plan after the checkpoint was removed", `
1 1s h/0 life 1 exit
2 2s h/0 life 2 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
3 2s h/0 life 2 return putif 2 done key=S/0 digest=3
4 2s op/0 life 1 return delete 1 done key=O/0
5 3s h/0 life 1 return putif 1 unknown key=O/0 digest=2 [t/0 @0 end=4]
`, nil},
		{"the same, while that life was alive", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return putif 2 done key=S/0 digest=3
3 2s op/0 life 1 return delete 1 done key=O/0
4 3s h/0 life 1 return putif 3 unknown key=O/0 digest=2 [t/0 @0 end=4]
5 4s h/0 life 1 crash
`, []string{"h/0 life 1 wrote another plan of batch 0: t/0 [0, 4) over t/0 [0, 1)"}},
		{"a dead life's plan over one that stands", `
1 1s h/0 life 1 exit
2 2s h/0 life 2 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
3 3s h/0 life 1 return put 1 unknown key=O/0 digest=2
`, []string{"h/0 life 1 wrote another plan of batch 0: none over t/0 [0, 1)"}},
		{"the order in which they took effect, not that of the answers", `
1 1s h/1 life 1 call put 1 key=O/0 digest=2 [t/0 @0 end=2]
2 1s h/0 life 1 call put 1 key=O/0 digest=1 [t/0 @0 end=1]
3 1s h/0 life 1 return put 1 done of=2 key=O/0 digest=1 [t/0 @0 end=1]
4 1s h/1 life 1 return put 1 unknown of=1 key=O/0 digest=2 [t/0 @0 end=2]
`, []string{"h/0 life 1 wrote another plan of batch 0: t/0 [0, 1) over t/0 [0, 2)"}},
		{"hidden by an error, seen by a get: the first of two tries", `
1 1s h/0 life 1 return putif 1 unknown err=reset key=S/0 digest=1
2 1s h/0 life 1 return putif 2 unknown err=reset key=S/0 digest=1
3 1s h/0 life 1 return putif 3 unknown err=reset key=S/1 digest=2
4 1s h/0 life 1 return get 1 done key=S/0 digest=1
5 1s h/1 life 1 return put 1 done key=S/0 digest=3
6 1s h/1 life 1 return put 2 done key=S/1 digest=3
`, []string{"batch 0 was written to the sink log again: S/0 by h/1 life 1, after S/0 by h/0 life 1"}},
		{"seen before it was put: no proof", `
1 1s h/0 life 1 return get 1 done key=S/0 digest=1
2 1s h/0 life 1 return putif 1 unknown err=reset key=S/0 digest=1
3 1s h/1 life 1 return put 1 done key=S/0 digest=3
`, nil},
		{"the same, where one is known", `
1 1s h/0 life 1 call putif 1 key=S/0 digest=1
2 1s h/0 life 2 return putif 1 done key=S/0 digest=1
3 1s h/0 life 2 return get 1 done key=S/0 digest=1
`, nil},
	})
}
