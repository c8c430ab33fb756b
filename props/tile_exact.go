package props

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// TileExact promises that a tile counts each record once, for those who go by its
// sink log. The tile is below prefix, without a slash at its end, and counts the
// records of topic.
//
// Batch by batch: the files that a batch adds to the sink log hold, per cell, as many
// events as the batch's ranges hold records, and as many distinct ids. The ranges are
// those of the last plan that took effect before; the files count as they were then.
// In the end: the sink log that the audit found lacks no batch, up to the last that is
// committed, and no file, and its
// files hold, per cell, as many events as all ranges of its batches, an offset that is
// in two of them taken once. So a file that is overwritten after it was named shows,
// and so does a batch that was skipped. Control records, aborted data and offsets at
// which nothing stands are no events.
//
// It cannot conclude anything without an audit of the topic, nor of ranges with
// records that have no cell, that belong to a transaction which nobody has ended, or
// that retention took and no reply to a Produce names. Where an object could not be
// read, the end is not judged. That ranges touch is for [RangesTouch] to say.
func TileExact(topic, prefix string) Property {
	name := "tile-exact/" + prefix
	return Property{
		Name: name,
		Says: "Through its sink log the tile " + prefix + " counts each record of " + topic +
			" in the ranges of its batches exactly once.",
		Check: func(h *model.History) []Broken {
			c := exactCheck{
				ledger: openLedger(h), tile: openTile(h, prefix), topic: topic,
				findings: findings{promise: name},
			}
			c.source = c.cellSource(topic)
			if len(c.source.logs) > 0 {
				c.batches()
				c.end()
			}
			return c.broken()
		},
		Holds:  tileText(exactHolds, topic, prefix),
		Breaks: tileText(exactBreaks, topic, prefix),
	}
}

const exactHolds = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @0 end=2]
2 1s tile/0 life 1 return put 1 done key=PART-A digest=d2 (CELL 2) (DISTINCT 1)
3 2s tile/0 life 2 return put 1 done key=PART-B digest=d2 (CELL 2) (DISTINCT 1)
4 2s tile/0 life 2 return putif 1 unknown key=SINK-A digest=d3 (PART-B 100)
5 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1 cell=CELL} {@1 id=ev-1 cell=CELL} {@2 id=ev-2 cell=CELL}]
6 9s - observe object key=SINK-A digest=d3 (PART-B 100)
7 9s - observe object key=PART-A digest=d2 bytes=100 (CELL 2) (DISTINCT 1)
8 9s - observe object key=PART-B digest=d2 bytes=100 (CELL 2) (DISTINCT 1)
`

const exactBreaks = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @0 end=2]
2 1s tile/0 life 1 return put 1 done key=PART-A digest=d2 (CELL 2) (DISTINCT 2)
3 2s tile/0 life 2 return put 1 done key=PART-B digest=d2 (CELL 2) (DISTINCT 2)
4 2s tile/0 life 2 return putif 1 done key=SINK-A digest=d3 (PART-A 100) (PART-B 100)
5 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1 cell=CELL} {@1 id=ev-2 cell=CELL}]
6 9s - observe object key=SINK-A digest=d3 (PART-A 100) (PART-B 100)
7 9s - observe object key=PART-A digest=d2 bytes=100 (CELL 2) (DISTINCT 2)
8 9s - observe object key=PART-B digest=d2 bytes=100 (CELL 2) (DISTINCT 2)
`

type exactCheck struct {
	*ledger
	findings
	tile   *tileLog
	topic  string
	source *cellSource
}

// batches judges each write to the sink log by itself.
func (c *exactCheck) batches() {
	for _, w := range c.tile.writes {
		if w.log != tileSink || w.covered {
			continue
		}
		if w.plan == nil {
			c.add(fmt.Sprintf("batch %d is in the sink log by %s, and no ranges were planned "+
				"for it", w.batch, w.ask.Key), w.ask.Seq, w.answer.Seq)
			continue
		}
		seqs := []int64{w.plan.ask.Seq, w.ask.Seq, w.answer.Seq}
		has, gone := make(cells), ""
		for _, file := range w.fresh {
			if file.put.ask == nil {
				gone = cmp.Or(gone, file.key)
				continue
			}
			has.addCounts(file.put.answer.Counts)
			seqs = append(seqs, file.put.ask.Seq)
		}
		if gone != "" {
			c.add(fmt.Sprintf("batch %d: %s names %s, which was not there",
				w.batch, w.ask.Key, gone), seqs...)
			continue
		}
		ranges := w.plan.ranges(c.topic)
		want, known := c.source.cells(ranges)
		if !known {
			continue
		}
		if diffs := has.differs(want, true); len(diffs) > 0 {
			d := diffs[0]
			c.add(fmt.Sprintf("batch %d: %s %d %s of %q, and its ranges %s have %d%s",
				w.batch, counting(w.fresh), d.has, d.what, d.cell, rangesText(ranges), d.want,
				more(diffs)), append(seqs, c.source.seqs(ranges)...)...)
		}
	}
}

// counting begins a sentence about what the files of a batch count.
func counting(files []tileFile) string {
	switch len(files) {
	case 0:
		return "no new file is named: it counts"
	case 1:
		return files[0].key + " counts"
	}
	return fmt.Sprintf("%s and %d more count", files[0].key, len(files)-1)
}

// end judges the sink log that the audit found.
func (c *exactCheck) end() {
	if c.objectsUnread() {
		return
	}
	batches := c.tile.batches()
	last := int64(-1)
	for _, b := range batches {
		if b.entry != nil {
			last = max(last, b.number)
		}
	}
	for _, w := range c.tile.writes {
		if w.log == tileCommits && c.tile.damage == 0 { // what is committed is data
			last = max(last, w.batch)
		}
	}
	end := c.tileEnd(c.tile.prefix, last)
	whole := len(end.missing) == 0
	for _, number := range end.missing {
		var shown []int64
		for _, b := range batches {
			if b.number == number && b.plan != nil {
				shown = append(shown, b.plan.ask.Seq)
			}
			if b.number == number && b.entry != nil {
				shown = append(shown, b.entry.ask.Seq)
			}
		}
		c.add(fmt.Sprintf("in the end batch %d is missing from the sink log; the last of all is %d",
			number, end.last), append(shown, end.seqs()...)...)
	}
	has := make(cells)
	for _, file := range end.files {
		switch o := file.object; {
		case o == nil:
			whole = false
			c.add(fmt.Sprintf("in the end %s names %s, which is not there", file.by.Key, file.key),
				file.by.Seq)
		case o.Bytes != 0 && file.size != 0 && o.Bytes != file.size:
			whole = false
			c.add(fmt.Sprintf("in the end %s has %d bytes, and %d in %s",
				file.key, o.Bytes, file.size, file.by.Key), file.by.Seq, o.Seq)
		default:
			has.addCounts(o.Counts)
		}
	}
	if whole {
		c.total(has, &end, batches)
	}
}

// total compares what the whole tile counts with the ranges of all its batches.
func (c *exactCheck) total(has cells, end *tileEnd, batches []tileBatch) {
	var ranges []model.Part
	for _, b := range batches {
		switch {
		case b.number > end.last:
		case b.plan == nil:
			return // told for the batch
		default:
			ranges = append(ranges, b.plan.ranges(c.topic)...)
		}
	}
	ranges = union(ranges)
	want, known := c.source.cells(ranges)
	if !known {
		return
	}
	if diffs := has.differs(want, false); len(diffs) > 0 {
		d := diffs[0]
		c.add(fmt.Sprintf("in the end %d files in the sink log count %d %s of %q, and the ranges "+
			"of batches up to %d have %d: %s%s", len(end.files), d.has, d.what, d.cell, end.last,
			d.want, rangesText(ranges), more(diffs)),
			append(end.seqs(), c.source.seqs(ranges)...)...)
	}
}

// union returns the same offsets in ranges that neither meet nor overlap.
func union(ranges []model.Part) []model.Part {
	slices.SortStableFunc(ranges, func(a, b model.Part) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	var all []model.Part
	for _, r := range ranges {
		if n := len(all); n > 0 && all[n-1].Partition == r.Partition && r.Offset <= all[n-1].End {
			all[n-1].End = max(all[n-1].End, r.End)
		} else {
			all = append(all, r)
		}
	}
	return all
}
