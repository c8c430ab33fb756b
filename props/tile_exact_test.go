package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

// checkBatches judges single batches: the audit could not read what is there in the end.
func checkBatches(t *testing.T, edges []edge) {
	t.Helper()
	for i := range edges {
		edges[i].history += "99 9s - observe object err=timeout\n"
	}
	checkTile(t, props.TileExact("t", "x"), renumber(edges))
}

func TestTileExactBatches(t *testing.T) {
	checkBatches(t, []edge{
		{"nothing written yet", `
1 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
`, nil},
		{"a batch of empty ranges has a part without rows", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=0] [t/1 @1 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
5 9s - observe log [t/1 @0 end=1 {@0 id=b cell=c}]
`, nil},
		{"markers, aborted data and holes are no events, rejects have no distinct ids", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=7]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 2) ("distinct c" 1) (rejected 2)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 9s - observe log [t/0 @0 end=8 {@0 id=a cell=c} {@1 aborted id=b cell=c} {@2 abort} {@4 id=a cell=c} {@5 cell=rejected class=bad} {@6 cell=rejected class=bad} {@7 id=z cell=c}]
`, nil},
		{"the same, and one too many", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=4]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 2) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 9s - observe log [t/0 @0 end=4 {@0 id=a cell=c} {@1 aborted id=b cell=c} {@2 abort}]
`, []string{`batch 0: P/a counts 2 events of "c", and its ranges t/0 [0, 4) have 1`}},
		{"a retry is an event and no id", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=2]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 2) ("distinct c" 2)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=a cell=c}]
`, []string{`batch 0: P/a counts 2 distinct ids of "c", and its ranges t/0 [0, 2) have 1`}},
		{"several files, partitions and cells", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1] [t/1 @0 end=2]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return put 2 done key=P/b digest=3 (d 1) ("distinct d" 1) (e 3)
4 1s h/0 life 1 return putif 2 done key=S/0 digest=4 (P/a 10) (P/b 10)
5 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
6 9s - observe log [t/1 @0 end=2 {@0 id=b cell=d} {@1 id=b cell=d}]
`, []string{`batch 0: P/a and 1 more count 1 events of "d", and its ranges t/0 [0, 1), t/1 [0, 2) have 2 (and 1 more cell differs)`}},
	})
}

// TestTileExactOrder: what counts is what was there when a batch was named.
func TestTileExactOrder(t *testing.T) {
	checkBatches(t, []edge{
		{"the plan before it counts, not the one after", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 unknown key=S/0 digest=3 (P/a 10)
4 2s h/0 life 2 return put 1 done key=O/0 digest=9 [t/0 @0 end=2]
5 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
`, nil},
		{"the plan after it counts for nothing", `
1 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
2 1s h/0 life 1 return putif 1 done key=S/0 digest=3 (P/a 10)
3 1s h/0 life 1 return putif 2 done key=O/0 digest=1 [t/0 @0 end=1]
4 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
`, []string{"batch 0 is in the sink log by S/0, and no ranges were planned for it"}},
		{"named before it was there", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
3 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
4 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
`, []string{"batch 0: S/0 names P/a, which was not there"}},
		{"a stable name is no new file", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 2s h/0 life 1 return putif 3 done key=O/1 digest=4 [t/0 @1 end=2]
5 2s h/0 life 1 return put 2 done key=P/a digest=5 (c 1) ("distinct c" 1)
6 2s h/0 life 1 return putif 4 done key=S/1 digest=6 (P/a 10)
7 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
`, []string{`batch 1: no new file is named: it counts 0 events of "c", and its ranges t/0 [1, 2) have 1`}},
		{"a compact file adds what is not named yet", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 2s h/0 life 1 return putif 3 done key=O/1 digest=4 [t/0 @1 end=2]
5 2s h/0 life 1 return put 2 done key=P/b digest=5 (c 1) ("distinct c" 1)
6 2s h/0 life 1 return putif 4 done key=S/1.compact digest=6 (P/a 10) (P/b 10)
7 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
`, nil},
		{"a late write below a compact file is no data", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/1.compact digest=3
4 1s h/0 life 1 return putif 3 unknown key=S/0 digest=4 (P/a 10) (P/b 10)
5 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
`, []string{"batch 1 is in the sink log by S/1.compact, and no ranges were planned for it"}},
	})
}

// TestTileExactKnows: what is not known of a range is not judged.
func TestTileExactKnows(t *testing.T) {
	const wrote = `
1 1s w/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a cell=c}]
2 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=2]
3 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
4 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
5 9s - observe object key=P/a digest=2 (c 1) ("distinct c" 1)
6 9s - observe object key=S/0 digest=3 (P/a 10)
`
	const batch, total = `batch 0: P/a counts 1 events of "c"`, "in the end 1 files"
	checkTile(t, props.TileExact("t", "x"), renumber([]edge{
		{"no audit of the topic", wrote, nil},
		{"no audit of the topic, and no sink log", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 9s - observe commit group=g [t/0 @0]
`, nil},
		{"a plan that says no start", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 9s - observe object key=P/a digest=2 (c 1) ("distinct c" 1)
5 9s - observe object key=S/0 digest=3 (P/a 10)
6 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
`, nil},
		{"another partition", wrote + `
7 9s - observe log [t/1 @0 end=0]
`, nil},
		{"records without a cell", wrote + `
7 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b}]
`, nil},
		{"a transaction that nobody ended", wrote + `
7 9s - observe log [t/0 @0 end=2 stable=1 {@0 id=a cell=c} {@1 id=b cell=c producer=3}]
`, nil},
		{"retention took what a Produce reply names", wrote + `
7 9s - observe log [t/0 @1 end=2 {@1 id=b cell=c}]
`, []string{batch, total}},
		{"retention took what nothing names", wrote + `
7 9s - observe log [t/0 @2 end=2]
`, nil},
		{"retention took what a transaction wrote", wrote + `
7 1s w/0 life 1 reply Produce 2 done txn=v-0 producer=1 epoch=0 [t/0 @1 {@1 id=b cell=c}]
8 9s - observe log [t/0 @2 end=2]
`, nil},
		{"an object that was not read", wrote + `
7 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
8 9s - observe object key=P/b err=timeout
`, []string{batch}},
		{"a put whose error hides that it took effect", `
1 1s h/0 life 1 call putif 1 key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return putif 1 unknown err=reset key=O/0 digest=1 [t/0 @0 end=1]
3 1s h/0 life 1 call putif 2 key=O/0 digest=1 [t/0 @0 end=1]
4 1s h/0 life 1 return putif 2 not-done err=precondition key=O/0 digest=1 [t/0 @0 end=1]
5 1s h/0 life 1 return get 1 done key=O/0 digest=1
6 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
7 1s h/0 life 1 call putif 3 key=S/0 digest=3 (P/a 10)
8 9s - observe object key=P/a digest=2 (c 1) ("distinct c" 1)
9 9s - observe object key=S/0 digest=3 (P/a 10)
10 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
`, nil},
	}))
}

// TestTileExactEnd judges what the audit found.
func TestTileExactEnd(t *testing.T) {
	const two = `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 2s h/0 life 1 return putif 3 done key=O/1 digest=4 [t/0 @1 end=2]
5 2s h/0 life 1 return put 2 done key=P/b digest=5 (c 1) ("distinct c" 1)
6 2s h/0 life 1 return putif 4 done key=S/1 digest=6 (P/b 10)
7 3s h/0 life 1 return putif 5 done key=O/2 digest=7 [t/0 @2 end=3]
8 3s h/0 life 1 return put 3 done key=P/c digest=8 (c 1) ("distinct c" 1)
9 9s - observe log [t/0 @0 end=3 {@0 id=a cell=c} {@1 id=b cell=c} {@2 id=d cell=c}]
`
	const (
		partA = "10 9s - observe object key=P/a digest=2 bytes=10 (c 1)\n"
		partB = "11 9s - observe object key=P/b digest=5 bytes=10 (c 1)\n"
		partC = "12 9s - observe object key=P/c digest=8 bytes=10 (c 1)\n"
		sinkA = "13 9s - observe object key=S/0 digest=3 (P/a 10)\n"
		sinkB = "14 9s - observe object key=S/1 digest=6 (P/b 10)\n"
	)
	checkTile(t, props.TileExact("t", "x"), renumber([]edge{
		{"a part of a batch under way is garbage", two + partA + partB + partC + sinkA + sinkB,
			nil},
		{"a batch is committed that the sink log does not have", two +
			partA + partB + sinkA + sinkB +
			"14 8s h/0 life 1 return putif 6 done key=C/2 digest=9\n", []string{
			"in the end batch 2 is missing from the sink log; the last of all is 2"}},
		{"a part is gone", two + partA + sinkA + sinkB, []string{
			"in the end S/1 names P/b, which is not there"}},
		{"a part was overwritten", two + partA + sinkA + sinkB +
			"14 9s - observe object key=P/b digest=5 bytes=10 (c 2)\n", []string{
			`in the end 2 files in the sink log count 3 events of "c", and the ranges of batches up to 1 have 2: t/0 [0, 2)`}},
		{"a part has another size", two + partA + sinkA + sinkB +
			"14 9s - observe object key=P/b digest=5 bytes=11 (c 1)\n", []string{
			"in the end P/b has 11 bytes, and 10 in S/1"}},
		{"the first object of the sink log is gone", two + partA + partB + sinkB, []string{
			"in the end batch 0 is missing from the sink log; the last of all is 1"}},
		{"the last object of the sink log is gone", two + partA + partB + sinkA, []string{
			"in the end batch 1 is missing from the sink log; the last of all is 1"}},
		{"a batch was skipped", two + partA + partB + partC + sinkA + sinkB +
			"14 9s h/0 life 1 return putif 6 done key=O/3 digest=9 [t/0 @3 end=3]\n" +
			"14 9s h/0 life 1 return putif 7 done key=S/3 digest=10\n" +
			"14 9s - observe object key=S/3 digest=10\n", []string{
			"in the end batch 2 is missing from the sink log; the last of all is 3"}},
		{"two batches read one offset", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=2]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 2) ("distinct c" 2)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 2s h/0 life 1 return putif 3 done key=O/1 digest=4 [t/0 @1 end=2]
5 2s h/0 life 1 return put 2 done key=P/b digest=5 (c 1) ("distinct c" 1)
6 2s h/0 life 1 return putif 4 done key=S/1 digest=6 (P/b 10)
9 9s - observe log [t/0 @0 end=2 {@0 id=a cell=c} {@1 id=b cell=c}]
10 9s - observe object key=P/a digest=2 bytes=10 (c 2)
` + partB + sinkA + sinkB, []string{`count 3 events of "c", and the ranges of batches up to 1 have 2`}},
		{"a file that two batches name is there once", `
1 1s h/0 life 1 return putif 1 done key=O/0 digest=1 [t/0 @0 end=1]
2 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1) ("distinct c" 1)
3 1s h/0 life 1 return putif 2 done key=S/0 digest=3 (P/a 10)
4 2s h/0 life 1 return putif 3 done key=O/1 digest=4 [t/0 @1 end=1]
5 2s h/0 life 1 return putif 4 done key=S/1 digest=6 (P/a 10)
6 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]
` + partA + sinkA + "14 9s - observe object key=S/1 digest=6 (P/a 10)\n", nil},
		{"a compact file stands for those before it", two + partA + partB + sinkB + partC + `
14 9s h/0 life 1 return putif 6 done key=S/2.compact digest=9 (P/a 10) (P/b 10) (P/c 10)
15 9s h/0 life 1 return delete 1 done key=S/0
16 9s - observe object key=S/2.compact digest=9 (P/a 10) (P/b 10) (P/c 10)
`, nil},
	}))
}
