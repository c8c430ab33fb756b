package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// CompactSafe promises that compaction of a tile's sink log loses nothing, for nobody:
// an object of the sink log is deleted only when a compact file that took effect before
// stands for its batch; no write makes the sink log name less than before; and readers
// that go by it while it changes neither fail nor count less than they did. The tile is
// below prefix, without a slash at its end.
//
// Readers are the processes that note "tile-read", with events by cell, and
// "tile-read-failed"; those of one process are compared, over its lives. The notes do
// not name a tile, so the world must have no other one.
//
// A process that deletes and never writes to a log of the tile is an operator. What it
// deletes is not judged, nor are readers after it removed data or sink log. It cannot
// conclude that files are there which the sink log names; that is for [TileExact].
func CompactSafe(prefix string) Property {
	name := "compact-safe/" + prefix
	return Property{
		Name: name,
		Says: "The sink log of the tile " + prefix + " loses no file when it is compacted, " +
			"and no reader fails or counts less meanwhile.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			t := openTile(h, prefix)
			checkCompaction(t, &f)
			checkReaders(h, t, &f)
			return f.broken()
		},
		Holds:  tileText(compactHolds, "t", prefix),
		Breaks: tileText(compactBreaks, "t", prefix),
	}
}

const compactHolds = `
1 1s tile/0 life 1 return putif 1 done key=SINK-A digest=d1 (PART-A 100)
2 2s reader/0 life 1 note tile-read (CELL 2)
3 3s tile/0 life 1 return putif 2 unknown key=COMPACT-B digest=d2 (PART-A 100) (PART-B 120)
4 4s tile/0 life 2 return delete 1 done key=SINK-A
5 5s reader/0 life 1 note tile-read (CELL 3)
`

const compactBreaks = `
1 1s tile/0 life 1 return putif 1 done key=SINK-A digest=d1 (PART-A 100)
2 2s tile/0 life 1 return delete 1 done key=SINK-A
3 3s reader/0 life 1 note tile-read-failed note="batch 0 is missing below batch 1"
4 4s tile/0 life 1 return putif 2 done key=COMPACT-B digest=d2 (PART-A 100)
`

func checkCompaction(t *tileLog, f *findings) {
	for _, w := range t.writes {
		if n := len(w.lost); n > 0 {
			f.add(fmt.Sprintf("%s wrote %s, which leaves out %s%s", w.by(), w.ask.Key, w.lost[0],
				others(n-1)), w.ask.Seq, w.answer.Seq)
		}
	}
	for _, d := range t.deletes {
		if !d.covered && !d.foreign {
			f.add(fmt.Sprintf("%s deleted %s when no compact file stood for batch %d",
				lifeText(lifeOf(d.ask)), d.ask.Key, d.entry.batch),
				d.entry.ask.Seq, d.ask.Seq, d.answer.Seq)
		}
	}
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func checkReaders(h *model.History, t *tileLog, f *findings) {
	type report struct {
		event *model.Event
		cells cells
	}
	last := make(map[string]report)
	events := h.Events()
	for i := range events {
		e := &events[i]
		if t.damage != 0 && t.damage < e.Seq {
			return
		}
		switch {
		case e.Kind != model.Note:
		case e.Op == "tile-read-failed":
			f.add(fmt.Sprintf("%s could not read the tile: %s", e.Proc, e.Note), e.Seq)
		case e.Op == "tile-read":
			now := make(cells)
			now.addCounts(e.Counts)
			was := last[e.Proc]
			last[e.Proc] = report{e, now}
			if was.event == nil {
				continue
			}
			for _, d := range now.differs(was.cells, false) {
				if d.has < d.want {
					f.add(fmt.Sprintf("%s read %d events of %q after it had read %d",
						e.Proc, d.has, d.cell, d.want), was.event.Seq, e.Seq)
					break
				}
			}
		}
	}
}
