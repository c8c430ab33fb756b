package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestListedOrGarbageEdges(t *testing.T) {
	const audit = `
91 9s - observe object key=P/a digest=1 (c 2) ("distinct c" 2) (rejected 1)
92 9s - observe object key=P/b digest=1 (c 2) ("distinct c" 2)
93 9s - observe object key=P/c digest=1 (d 1)
94 9s - observe object key=S/0 digest=2 (P/b 10)
95 9s - observe object key=S/1.compact digest=3 (P/a 10) (P/c 10)
`
	const right, wrong = "(c 2) (d 1) (rejected 1)", "(c 4) (d 1) (rejected 1)"
	const accused = `last-reader/0 read 4 events of "c", and the files that the sink log names up to batch 1 have 2`
	checkTile(t, props.ListedOrGarbage("x"), renumber([]edge{
		{"nothing written yet", "1 8s last-reader/0 life 1 note tile-read\n2 9s - observe commit group=g [t/0 @0]\n", nil},
		{"nothing written, something read", "1 8s last-reader/0 life 1 note tile-read (c 1)\n2 9s - observe commit group=g [t/0 @0]\n",
			[]string{`last-reader/0 read 1 events of "c", and the files that the sink log names up to batch -1 have 0`}},
		{"as the sink log names them", "1 8s last-reader/0 life 1 note tile-read " + right + audit, nil},
		{"a reader of the folder", "1 8s last-reader/0 life 1 note tile-read " + wrong + audit,
			[]string{accused}},
		{"rejects are forgotten, and a cell", "1 8s last-reader/0 life 1 note tile-read (c 2)" + audit,
			[]string{`read 0 events of "d", and the files that the sink log names up to batch 1 have 1 (and 1 more cell differs)`}},
		{"the last report counts, and only of the last reader", "1 7s last-reader/0 life 1 note tile-read " + wrong +
			"\n2 7s last-reader/0 life 2 note tile-read " + right +
			"\n3 8s reader/0 life 1 note tile-read " + wrong + audit, nil},
		{"no audit", "1 8s last-reader/0 life 1 note tile-read " + wrong + "\n", nil},
		{"an object that was not read", "1 8s last-reader/0 life 1 note tile-read " + wrong + audit +
			"96 9s - observe object key=S/2 err=timeout\n", nil},
		{"a named file that is gone", "1 8s last-reader/0 life 1 note tile-read " + wrong + audit +
			"96 9s - observe object key=S/2 digest=4 (P/gone 10)\n", nil},
		{"the sink log changed after the report", "1 8s last-reader/0 life 1 note tile-read (c 1)\n" +
			"2 8s h/0 life 1 return putif 1 done key=S/1.compact digest=3 (P/a 10) (P/c 10)" + audit, nil},
		{"the sink log changed while it listed", `
1 8s last-reader/0 life 1 call list 1 key=S/
2 8s last-reader/0 life 1 return list 1 of=1 key=S/
3 8s h/0 life 1 return putif 1 done key=S/1.compact digest=3 (P/a 10) (P/c 10)
4 8s last-reader/0 life 1 call list 2 key=S/
5 8s last-reader/0 life 1 call get 1 key=S/0
6 8s last-reader/0 life 1 note tile-read (c 1)` + audit, nil},
		{"the sink log changed before it listed again", `
1 8s last-reader/0 life 1 call list 1 key=S/
3 8s h/0 life 1 return putif 1 done key=S/1.compact digest=3 (P/a 10) (P/c 10)
4 8s last-reader/0 life 1 call get 1 key=S/0
5 8s last-reader/0 life 1 call list 2 key=S/
6 8s last-reader/0 life 1 note tile-read ` + wrong + audit, []string{accused}},
		{"what changed since makes no difference to readers", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=2 (P/b 10)
2 1s h/0 life 1 return putif 2 done key=S/1.compact digest=3 (P/a 10) (P/c 10)
3 8s last-reader/0 life 1 note tile-read ` + wrong + `
4 8s h/0 life 1 return delete 1 done key=S/0
5 8s h/1 life 1 return putif 1 done key=S/0 digest=2 (P/b 10)
6 8s h/0 life 1 return putif 3 done key=C/1 digest=9
7 8s h/0 life 1 return put 1 done key=P/z digest=9` + audit, []string{accused}},
		{"an object was removed since, by which readers went", `
1 1s h/0 life 1 return putif 1 done key=S/2 digest=4 (P/b 10)
2 8s last-reader/0 life 1 note tile-read ` + wrong + `
3 8s h/0 life 1 return delete 1 done key=S/2` + audit, nil},
	}))
}
