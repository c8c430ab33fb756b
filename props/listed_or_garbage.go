package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// lastReader is the process that reads a tile when all is over.
const lastReader = "last-reader/"

// ListedOrGarbage promises that files which the sink log does not name are no data: the
// last report of the last reader counts, per cell, what the files count that the sink
// log names in the audit. The tile is below prefix, without a slash at its end.
//
// The last reader is a process named "last-reader"; its report is its last note
// "tile-read". It concludes that a reader went by the folder instead, or left a file
// out. It cannot conclude anything without an audit and such a note, where the sink log
// changed after the reader last began to list, where an object could not be read, or
// where a named file is not there: that is for [TileExact] to say.
func ListedOrGarbage(prefix string) Property {
	name := "listed-or-garbage/" + prefix
	return Property{
		Name: name,
		Says: "In the end a reader of the tile " + prefix +
			" counts the files that the sink log names, and no others.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkListed(openLedger(h), prefix, &f)
			return f.broken()
		},
		Holds:  tileText(listedHolds, "t", prefix),
		Breaks: tileText(listedBreaks, "t", prefix),
	}
}

const listedHolds = `
1 1s tile/0 life 1 return put 1 done key=PART-A digest=d1 (CELL 2) (DISTINCT 1)
2 2s tile/0 life 2 return put 1 done key=PART-B digest=d1 (CELL 2) (DISTINCT 1)
3 2s tile/0 life 2 return putif 1 done key=SINK-A digest=d2 (PART-B 100)
4 8s last-reader/0 life 1 note tile-read (CELL 2)
5 9s - observe object key=PART-A digest=d1 (CELL 2) (DISTINCT 1)
6 9s - observe object key=PART-B digest=d1 (CELL 2) (DISTINCT 1)
7 9s - observe object key=SINK-A digest=d2 (PART-B 100)
`

const listedBreaks = `
1 1s tile/0 life 1 return put 1 done key=PART-A digest=d1 (CELL 2) (DISTINCT 1)
2 2s tile/0 life 2 return put 1 done key=PART-B digest=d1 (CELL 2) (DISTINCT 1)
3 2s tile/0 life 2 return putif 1 done key=SINK-A digest=d2 (PART-B 100)
4 8s last-reader/0 life 1 note tile-read (CELL 4)
5 9s - observe object key=PART-A digest=d1 (CELL 2) (DISTINCT 1)
6 9s - observe object key=PART-B digest=d1 (CELL 2) (DISTINCT 1)
7 9s - observe object key=SINK-A digest=d2 (PART-B 100)
`

func checkListed(l *ledger, prefix string, f *findings) {
	report, began := lastRead(l.h)
	if report == nil || !l.audit.Ran() || l.objectsUnread() {
		return
	}
	if openTile(l.h, prefix).changed() > began {
		return
	}
	end := l.tileEnd(prefix, -1)
	want := make(cells)
	seqs := append(end.seqs(), report.Seq)
	for _, file := range end.files {
		if file.object == nil {
			return
		}
		want.addCounts(file.object.Counts)
		seqs = append(seqs, file.object.Seq)
	}
	has := make(cells)
	has.addCounts(report.Counts)
	if diffs := has.differs(want, false); len(diffs) > 0 {
		d := diffs[0]
		f.add(fmt.Sprintf("%s read %d %s of %q, and the files that the sink log names "+
			"up to batch %d have %d%s", report.Proc, d.has, d.what, d.cell, end.last, d.want,
			more(diffs)), seqs...)
	}
}

// lastRead returns the last report of the last reader, nil where there is none, and the
// place in the history at which it last began to list: the report's own where its
// calls are not told.
func lastRead(h *model.History) (report *model.Event, began int64) {
	listing, listed := false, int64(0)
	events := h.Events()
	for i := range events {
		e := &events[i]
		if !strings.HasPrefix(e.Proc, lastReader) {
			continue
		}
		switch {
		case e.Kind == model.Call && e.Op == "list":
			if !listing {
				listed = e.Seq
			}
			listing = true
		case e.Kind == model.Call:
			listing = false
		case e.Kind == model.Note && e.Op == "tile-read":
			report, began = e, e.Seq
			if listed != 0 {
				began = listed
			}
			listing, listed = false, 0
		}
	}
	return report, began
}

// changed returns when readers of the sink log last began to see another one.
func (t *tileLog) changed() int64 {
	last := int64(0)
	for _, w := range t.writes {
		if w.log == tileSink && !w.covered {
			last = max(last, w.ask.Seq)
		}
	}
	for _, d := range t.deletes {
		if !d.covered {
			last = max(last, d.ask.Seq)
		}
	}
	return last
}
