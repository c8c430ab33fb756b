package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestOneWinnerEdges(t *testing.T) {
	checkTile(t, props.OneWinner("x"), []edge{
		{"nothing written yet", "1 1s h/0 life 1 start\n", nil},
		{"one life twice is not two winners", `
1 1s h/0 life 1 return put 1 done key=S/0 digest=1
2 1s h/0 life 1 return put 2 done key=S/0 digest=1
`, nil},
		{"two lives of one process", `
1 1s h/0 life 1 return put 1 done key=S/0 digest=1
2 1s h/0 life 2 return put 1 done key=S/0 digest=2
`, []string{"batch 0 was won by h/0 life 1 and by h/0 life 2"}},
		{"plain and compact", `
1 1s h/0 life 1 return putif 1 done key=S/9 digest=1
2 1s h/1 life 1 return putif 1 done key=S/9.compact digest=2
`, []string{"batch 9 was won by h/0 life 1 and by h/1 life 1"}},
		{"a dead life's put below a compact file", `
1 1s h/0 life 1 crash
2 1s h/0 life 2 return putif 1 done key=S/0 digest=1
3 1s h/0 life 2 return putif 2 done key=S/1.compact digest=2
4 1s h/0 life 2 return delete 1 done key=S/0
5 1s h/0 life 1 return putif 1 unknown key=S/0 digest=3
`, nil},
		{"a dead life's put that comes first", `
1 1s h/0 life 1 crash
2 1s h/0 life 1 return putif 1 unknown key=S/0 digest=1
3 1s h/0 life 2 return putif 1 not-done err=precondition key=S/0 digest=2
4 1s h/0 life 3 return putif 1 done key=C/0 digest=3
`, nil},
	})
}

func TestOneWinnerLosers(t *testing.T) {
	checkTile(t, props.OneWinner("x"), []edge{
		{"own write, lost, refused, and on it goes", `
1 1s h/0 life 1 call putif 1 key=S/0 digest=1
2 1s h/0 life 1 return putif 1 unknown of=1 key=S/0 digest=1
3 1s h/0 life 1 call putif 2 key=S/0 digest=1
4 1s h/0 life 1 return putif 2 not-done of=3 err=precondition key=S/0 digest=1
5 1s h/0 life 1 return putif 3 done key=C/0 digest=2
`, nil},
		{"another run committed with the same bytes", `
1 1s h/1 life 1 return putif 1 done key=C/0 digest=2
2 1s h/0 life 1 return putif 1 not-done err=precondition key=C/0 digest=2
3 1s h/0 life 1 return putif 2 done key=O/1 digest=3
`, nil},
		{"a loser that commits the winner's batch", `
1 1s h/1 life 1 return putif 1 done key=S/0 digest=1
2 1s h/0 life 1 return putif 1 not-done err=precondition key=S/0 digest=2
3 1s h/0 life 1 return putif 2 done key=C/0 digest=3
4 1s h/0 life 1 return putif 3 done key=O/1 digest=4
`, []string{"h/0 life 1 wrote C/0 after S/0 had been refused, where h/1 life 1 had written other content"}},
		{"its next life may", `
1 1s h/1 life 1 return putif 1 done key=S/0 digest=1
2 1s h/0 life 1 return putif 1 not-done err=precondition key=S/0 digest=2
3 1s h/0 life 2 return putif 1 done key=C/0 digest=3
`, nil},
		{"a loser that did not hear of it", `
1 1s h/1 life 1 return putif 1 done key=S/0 digest=1
2 1s h/0 life 1 return putif 1 unknown err=precondition key=S/0 digest=2
3 1s h/0 life 1 return putif 2 done key=C/0 digest=3
`, nil},
		{"what loses may still write parts and delete", `
1 1s h/1 life 1 return putif 1 done key=S/0 digest=1
2 1s h/0 life 1 return putif 1 not-done err=precondition key=S/0 digest=2
3 1s h/0 life 1 return put 1 done key=P/a digest=3
4 1s h/0 life 1 return putif 2 done key=x/checkpoint/metadata digest=4
`, nil},
		{"a refusal by nothing, as a fault answers", `
1 1s h/0 life 1 return putif 1 not-done err=precondition key=S/0 digest=2
2 1s h/0 life 1 return putif 2 done key=C/0 digest=3
`, nil},
		{"a refusal by what was removed since", `
1 1s h/1 life 1 return putif 1 done key=O/0 digest=1
2 2s op/0 life 1 return delete 1 done key=O/0
3 3s h/0 life 1 return putif 1 not-done err=precondition key=O/0 digest=2
4 3s h/0 life 1 return putif 2 done key=O/1 digest=3
`, nil},
		{"an earlier try of the same call comes late", `
1 1s h/0 life 1 call putif 1 key=S/0 digest=1
2 1s h/0 life 1 return putif 1 unknown of=1 key=S/0 digest=1
3 2s h/0 life 1 return putif 2 done key=S/1.compact digest=2
4 2s h/0 life 1 return delete 1 done key=S/0
5 2s h/1 life 1 return putif 1 done key=O/2 digest=3
6 2s h/0 life 1 return putif 3 not-done err=precondition key=O/2 digest=4
7 3s h/0 life 1 return putif 4 unknown key=S/0 digest=1
`, nil},
	})
}

// TestOneWinnerUnderWay: what was asked for before the refusal is no write after it.
func TestOneWinnerUnderWay(t *testing.T) {
	checkTile(t, props.OneWinner("x"), []edge{
		{"what is under way when it is refused", `
1 1s h/1 life 1 return putif 1 done key=S/0 digest=1
2 1s h/0 life 1 call putif 1 key=S/0 digest=2
3 1s h/0 life 1 call putif 2 key=O/1 digest=3
4 1s h/0 life 1 return putif 1 not-done of=2 err=precondition key=S/0 digest=2
5 1s h/0 life 1 return putif 2 done of=3 key=O/1 digest=3
`, nil},
		{"a refusal by nothing, and what comes after it", `
1 1s h/0 life 1 return putif 1 not-done err=precondition key=S/0 digest=2
2 1s h/1 life 1 return putif 1 done key=S/0 digest=1
3 1s h/0 life 1 return putif 2 done key=C/0 digest=3
`, nil},
		{"a store that acts in another order than it was asked", `
1 1s h/0 life 1 call putif 1 key=S/0 digest=2
2 1s h/1 life 1 call putif 1 key=S/0 digest=1
3 1s h/1 life 1 return putif 1 done of=2 key=S/0 digest=1
4 1s h/0 life 1 return putif 1 not-done of=1 err=precondition key=S/0 digest=2
5 1s h/0 life 1 return putif 2 done key=C/0 digest=3
`, []string{"h/0 life 1 wrote C/0 after S/0 had been refused, where h/1 life 1 had written other content"}},
	})
}
