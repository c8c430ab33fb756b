package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

// twenty is a sink log that was compacted at batch 1 and at batch 3.
const twenty = `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/0 life 1 return putif 2 done key=S/1.compact digest=2 (P/a 10) (P/b 10)
3 1s h/0 life 1 return delete 1 done key=S/0
4 1s h/0 life 1 return putif 3 done key=S/2 digest=3 (P/c 10)
5 1s h/0 life 1 return putif 4 done key=S/3.compact digest=4 (P/a 10) (P/b 10) (P/c 10) (P/d 10)
6 1s h/0 life 1 return delete 2 done key=S/1.compact
7 1s h/0 life 1 return delete 3 unknown key=S/2
`

func TestCompactSafeWriter(t *testing.T) {
	checkTile(t, props.CompactSafe("x"), renumber([]edge{
		{"nothing written yet", "1 1s h/0 life 1 return list 1 done key=x/\n", nil},
		{"compacted twice", twenty, nil},
		{"deleted again, and what is no log", twenty + `
8 1s h/0 life 1 return delete 4 done key=S/2
9 1s h/0 life 1 return delete 5 done key=P/garbage
10 1s h/0 life 1 return delete 6 done key=S/.4.tmp
`, nil},
		{"a dead life's object below a compact file comes and goes", twenty + `
8 1s h/0 life 2 return putif 1 unknown key=S/2 digest=9 (P/garbage 10)
9 1s h/0 life 1 return delete 4 done key=S/2
`, nil},
		{"nor does the next compact file name its file", twenty + `
8 1s h/0 life 2 return putif 1 unknown key=S/2 digest=9 (P/garbage 10)
9 1s h/0 life 1 return putif 5 done key=S/4.compact digest=5 (P/a 10) (P/b 10) (P/c 10) (P/d 10)
`, nil},
		{"the compact file itself", twenty + `
8 1s h/0 life 1 return delete 4 done key=S/3.compact
`, []string{"h/0 life 1 deleted S/3.compact when no compact file stood for batch 3"}},
		{"a batch after the compact file", twenty + `
8 1s h/0 life 1 return putif 5 done key=S/4 digest=5 (P/e 10)
9 1s h/0 life 1 return delete 4 done key=S/4
10 1s h/0 life 1 return putif 6 done key=S/5.compact digest=6 (P/a 10) (P/b 10) (P/c 10) (P/d 10)
`, []string{"h/0 life 1 deleted S/4 when no compact file stood for batch 4"}},
		{"the compact file never took effect", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/0 life 1 call putif 2 key=S/1.compact digest=2 (P/a 10) (P/b 10)
3 1s h/0 life 1 return putif 2 not-done err=throttled of=2 key=S/1.compact digest=2 (P/a 10) (P/b 10)
4 1s h/0 life 1 return delete 1 done key=S/0
`, []string{"h/0 life 1 deleted S/0 when no compact file stood for batch 0"}},
		{"a delete that was refused, and one that never arrived", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/0 life 1 return delete 1 not-done err=throttled key=S/0
3 1s h/0 life 1 call delete 2 not-done key=S/0
`, nil},
		{"the second compact file forgets what only the first named", twenty + `
8 1s h/0 life 1 return putif 5 done key=S/4 digest=5 (P/e 10)
9 1s h/0 life 1 return putif 6 done key=S/5.compact digest=6 (P/c 10) (P/d 10) (P/e 10) (P/f 10)
`, []string{"h/0 life 1 wrote S/5.compact, which leaves out P/a and 1 more"}},
		{"an object of the sink log that is overwritten", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/1 life 1 return put 1 done key=S/0 digest=2 (P/b 10)
`, []string{"h/1 life 1 wrote S/0, which leaves out P/a"}},
		{"a compact file that comes late, when later batches are there", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/0 life 1 return putif 2 done key=S/2 digest=2 (P/c 10)
3 1s h/0 life 1 return putif 3 done key=S/1.compact digest=3 (P/a 10) (P/b 10)
`, nil},
		{"an operator's deletes are not the hop's", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s op/0 life 1 return delete 1 done key=S/0
`, nil},
		{"who lost every batch is no operator", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/1 life 1 return putif 1 not-done err=precondition key=S/0 digest=2 (P/b 10)
3 1s h/1 life 1 return delete 1 done key=S/0
`, []string{"h/1 life 1 deleted S/0 when no compact file stood for batch 0"}},
	}))
}

func TestCompactSafeReader(t *testing.T) {
	checkTile(t, props.CompactSafe("x"), []edge{
		{"it grows, and each reader by itself", `
1 1s reader/0 life 1 note tile-read
2 1s reader/0 life 1 note tile-read (c 2) ("distinct c" 2)
3 2s reader/1 life 1 note tile-read (c 1)
4 2s reader/0 life 2 note tile-read (c 2) (d 1) ("distinct c" 1)
`, nil},
		{"a cell shrinks, over a restart", `
1 1s reader/0 life 1 note tile-read (a 2) (c 2)
2 2s reader/0 life 2 note tile-read (a 3) (c 1)
3 3s reader/0 life 2 note tile-read (a 3) (c 1)
`, []string{`reader/0 read 1 events of "c" after it had read 2`}},
		{"a cell is gone", `
1 1s reader/0 life 1 note tile-read (a 2)
2 2s reader/0 life 1 note tile-read-failed note="P/a is torn"
3 3s reader/0 life 1 note tile-read
`, []string{`reader/0 read 0 events of "a" after it had read 2`, "reader/0 could not read the tile: P/a is torn"}},
		{"after an operator removed a named file", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s reader/0 life 1 note tile-read (c 1)
3 1s h/0 life 1 return put 1 done key=P/a digest=2 (c 1)
4 1s op/0 life 1 return delete 1 done key=P/a
5 1s reader/0 life 1 note tile-read-failed note="P/a is missing"
`, nil},
		{"after an operator removed sink log", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s reader/0 life 1 note tile-read (c 1)
3 1s op/0 life 1 return delete 1 done key=S/0
4 1s reader/0 life 1 note tile-read
`, nil},
		{"after an operator removed garbage and the checkpoint", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1 (P/a 10)
2 1s h/0 life 1 return put 1 done key=P/b digest=2 (c 1)
3 1s h/0 life 1 return putif 1 done key=O/0 digest=3
4 1s op/0 life 1 return delete 1 done key=P/b
5 1s op/0 life 1 return delete 2 done key=O/0
6 1s reader/0 life 1 note tile-read-failed note="P/a is missing"
`, []string{"reader/0 could not read the tile: P/a is missing"}},
		{"before an operator removed anything", `
1 1s h/0 life 1 return putif 1 done key=S/0 digest=1
2 1s reader/0 life 1 note tile-read-failed note=torn
3 1s op/0 life 1 return delete 1 done key=S/0
`, []string{"reader/0 could not read the tile: torn"}},
	})
}
