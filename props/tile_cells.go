package props

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// ofDistinct is before a cell in what counts distinct ids.
const ofDistinct = "distinct "

// cells count events by cell.
type cells map[string]*cell

// cell is what stands in one of them.
type cell struct {
	events, distinct int64
	ids              map[string]bool // of the distinct ones, where they are known
}

func (c cells) at(name string) *cell {
	x := c[name]
	if x == nil {
		x = new(cell)
		c[name] = x
	}
	return x
}

// addCounts adds what an object or a reader says.
func (c cells) addCounts(counts []model.Count) {
	for _, n := range counts {
		if name, ok := strings.CutPrefix(n.Of, ofDistinct); ok {
			c.at(name).distinct += n.N
		} else {
			c.at(n.Of).events += n.N
		}
	}
}

// addRecord adds one record. A rejected one has an id that nobody counts.
func (c cells) addRecord(r *model.Record) {
	x := c.at(r.Cell)
	x.events++
	if r.Class == "" && !x.ids[r.ID] {
		if x.ids == nil {
			x.ids = make(map[string]bool)
		}
		x.ids[r.ID] = true
		x.distinct++
	}
}

// cellDiff is one cell for which two counts differ.
type cellDiff struct {
	cell      string
	what      string // "events" or "distinct ids"
	has, want int64
}

// differs returns where has is not want, in order of cell; distinct ids are compared
// if asked.
func (c cells) differs(want cells, distinct bool) []cellDiff {
	var diffs []cellDiff
	for _, name := range c.names(want) {
		has, wants := c.at(name), want.at(name)
		switch {
		case has.events != wants.events:
			diffs = append(diffs, cellDiff{name, "events", has.events, wants.events})
		case distinct && has.distinct != wants.distinct:
			diffs = append(diffs, cellDiff{name, "distinct ids", has.distinct, wants.distinct})
		}
	}
	return diffs
}

// names are the cells of either, sorted.
func (c cells) names(other cells) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(c)), maps.Keys(other))
	slices.Sort(names)
	return slices.Compact(names)
}

// more says how many further cells differ, for a witness that names the first.
func more(diffs []cellDiff) string {
	switch n := len(diffs) - 1; n {
	case 0:
		return ""
	case 1:
		return " (and 1 more cell differs)"
	default:
		return fmt.Sprintf(" (and %d more cells differ)", n)
	}
}

// cellSource knows which records of a topic are in which cell.
type cellSource struct {
	topic   string
	logs    []partitionLog
	trimmed map[model.Position]*model.Record // by origin, what retention took
}

// cellSource returns the audited records of a topic. Those that retention took are
// known from the replies to their Produce.
func (l *ledger) cellSource(topic string) *cellSource {
	s := &cellSource{topic: topic, logs: l.logs(topic)}
	if !slices.ContainsFunc(s.logs, func(p partitionLog) bool { return p.start > 0 }) {
		return s
	}
	s.trimmed = make(map[model.Position]*model.Record)
	for a := range appends(l.h, topic) {
		log := logOf(s.logs, a.part.Partition)
		if log != nil && a.offset < log.start && a.event.TxnID == "" {
			s.trimmed[model.Position{
				Topic: topic, Partition: a.part.Partition, Offset: a.offset,
			}] = a.record
		}
	}
	return s
}

// add adds the records of a range to the cells. It reports false where it does not
// know all of them, or not their cells.
func (s *cellSource) add(to cells, p model.Part) bool {
	log := logOf(s.logs, p.Partition)
	if log == nil || p.Offset < 0 {
		return false
	}
	for at := p.Offset; at < min(p.End, log.start); at++ {
		r := s.trimmed[model.Position{Topic: s.topic, Partition: p.Partition, Offset: at}]
		if r == nil || r.Cell == "" {
			return false
		}
		to.addRecord(r)
	}
	from, _ := slices.BinarySearchFunc(log.records, max(p.Offset, log.start),
		func(r model.Record, offset int64) int { return int(r.Offset - offset) })
	for i := from; i < len(log.records) && log.records[i].Offset < p.End; i++ {
		r := &log.records[i]
		if r.Kind != model.Data {
			continue
		}
		if r.Cell == "" || log.isOpen(r) {
			return false
		}
		to.addRecord(r)
	}
	return true
}

// cells returns the records of ranges by cell, and whether all are known.
func (s *cellSource) cells(ranges []model.Part) (cells, bool) {
	all := make(cells)
	for _, p := range ranges {
		if !s.add(all, p) {
			return nil, false
		}
	}
	return all, true
}

// seqs are the events that show the partitions of ranges.
func (s *cellSource) seqs(ranges []model.Part) []int64 {
	var seqs []int64
	for _, p := range ranges {
		if log := logOf(s.logs, p.Partition); log != nil {
			seqs = append(seqs, log.seq)
		}
	}
	return seqs
}
