package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestRangesTouchEdges(t *testing.T) {
	checkTile(t, props.RangesTouch("t", "x"), []edge{
		{"nothing planned", "1 9s - observe log [t/0 @0 end=1 {@0 id=a}]\n", nil},
		{"a partition that appears later", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @4 end=4]
2 1s h/0 life 1 return putif 2 done key=O/1 digest=2 [t/0 @4 end=6] [t/1 @3 end=5]
3 1s h/0 life 1 return putif 3 done key=O/2 digest=3 [t/0 @6 end=6] [t/1 @5 end=6]
`, nil},
		{"in both", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/0 life 1 return putif 2 done key=O/1 digest=2 [t/0 @3 end=6]
`, []string{"batch 0 ends at t/0@4 and batch 1 begins at 3: [3, 4) is in both"}},
		{"a partition that is forgotten and comes back", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4] [t/1 @0 end=2]
2 1s h/0 life 1 return putif 2 done key=O/1 digest=2 [t/0 @4 end=6]
3 1s h/0 life 1 return putif 3 done key=O/2 digest=3 [t/0 @6 end=6] [t/1 @0 end=3]
`, []string{"batch 1 has no range of t/1, which batch 0 had up to 2",
			"batch 0 ends at t/1@2 and batch 2 begins at 0: [0, 2) is in both"}},
		{"a partition twice in one batch", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4] [t/0 @2 end=5]
`, []string{"batch 0 ends at t/0@4 and batch 0 begins at 2: [2, 4) is in both"}},
		{"backwards", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @4 end=3]
`, []string{"batch 0 has a range of t/0 that ends at 3, before it begins at 4"}},
		{"a plan that never took effect, and another topic", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/1 life 1 return putif 1 not-done err=precondition key=O/0 digest=9 [t/0 @0 end=3]
3 1s h/1 life 1 call putif 2 not-done key=O/1 digest=9 [t/0 @3 end=4]
4 1s h/0 life 1 return putif 2 done key=O/1 digest=2 [t/0 @4 end=6] [u/0 @3 end=5]
5 1s h/0 life 1 return putif 3 done key=O/2 digest=3 [t/0 @6 end=6] [u/0 @0 end=5]
`, nil},
	})
}

// TestRangesTouchAnew: of several plans of a batch the one that it was done by counts.
func TestRangesTouchAnew(t *testing.T) {
	checkTile(t, props.RangesTouch("t", "x"), []edge{
		{"planned again on restart, with a further end, before it was done", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/0 life 2 return put 1 done key=O/0 digest=2 [t/0 @0 end=6]
3 1s h/0 life 2 return putif 1 done key=S/0 digest=3
4 1s h/0 life 2 return putif 2 done key=O/1 digest=4 [t/0 @6 end=7]
`, nil},
		{"planned again on restart, with a further end, after it was done", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/0 life 1 return putif 2 unknown key=S/0 digest=2
3 1s h/0 life 2 return put 1 done key=O/0 digest=3 [t/0 @0 end=6]
4 1s h/0 life 2 return putif 1 not-done err=precondition key=S/0 digest=4
5 1s h/0 life 2 return putif 2 done key=O/1 digest=5 [t/0 @6 end=7]
`, []string{"batch 0 ends at t/0@4 and batch 1 begins at 6: [4, 6) is in none"}},
		{"planned again and named again, below a compact file", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/0 life 1 return putif 2 done key=S/0 digest=2
3 1s h/0 life 1 return putif 3 done key=O/1 digest=3 [t/0 @4 end=5]
4 1s h/0 life 1 return putif 4 done key=S/1.compact digest=4
5 1s h/1 life 1 return put 1 done key=O/0 digest=5 [t/0 @0 end=3]
6 1s h/1 life 1 return put 2 done key=S/0 digest=6
`, nil},
		{"the checkpoint was removed, and done batches are skipped", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return putif 2 done key=S/0 digest=2
3 2s op/0 life 1 return delete 1 done key=O/0
4 3s h/0 life 2 return putif 1 done key=O/0 digest=3 [t/0 @0 end=8]
5 3s h/0 life 2 return putif 2 not-done err=precondition key=S/0 digest=4
6 3s h/0 life 2 return putif 3 done key=O/1 digest=5 [t/0 @8 end=9]
`, []string{"batch 0 ends at t/0@1 and batch 1 begins at 8: [1, 8) is in none"}},
		{"a plan of the dead that comes when an operator removed the checkpoint", `
1 1s h/0 life 1 crash
2 1s h/0 life 2 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
3 2s op/0 life 1 return delete 1 done key=O/0
4 2s h/0 life 1 return putif 1 unknown key=O/0 digest=2 [t/0 @0 end=3]
5 2s h/0 life 2 return putif 2 done key=S/0 digest=3
6 3s h/0 life 2 return putif 3 done key=O/1 digest=4 [t/0 @4 end=5]
`, nil},
		{"numbers in order, not as text; names that are no batch", `
1 1s h/0 life 1 return putif 1 done key=O/9 digest=1 [t/0 @0 end=4]
2 1s h/0 life 1 return putif 2 done key=O/10 digest=2 [t/0 @4 end=6]
3 1s h/0 life 1 return put 1 done key=O/11.tmp digest=3 [t/0 @0 end=9]
4 1s h/0 life 1 return put 2 done key=O/011 digest=3 [t/0 @0 end=9]
5 1s h/0 life 1 return put 3 done key=O/-11 digest=3 [t/0 @0 end=9]
6 1s h/0 life 1 return put 4 done key=O/11.compact digest=3 [t/0 @0 end=9]
`, nil},
	})
}
