package props

import (
	"cmp"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// ledger is the audit of one history, indexed for what promises look up. It
// holds the audit's own records and lines in sorted order and looks them up by
// halving, so that it costs a sort and no map.
type ledger struct {
	h     *model.History
	audit model.Audited
}

func openLedger(h *model.History) *ledger {
	return &ledger{h: h, audit: model.Audit(h)}
}

// partitionLog is the log of one partition.
type partitionLog struct {
	topic      string
	partition  int32
	start, end int64          // offsets below start are gone: retention took them
	stable     int64          // the last stable offset; -1: not said
	open       []int64        // offsets of the data of transactions that nobody has ended
	seq        int64          // of the audit's event; 0: not audited
	records    []model.Record // by offset
}

// logs returns the audited logs of a topic, by partition.
func (l *ledger) logs(topic string) []partitionLog {
	parts := l.audit.Topic(topic)
	logs := make([]partitionLog, len(parts))
	for i := range parts {
		p := &parts[i]
		log := partitionLog{
			topic: topic, partition: p.Partition, start: max(p.Offset, 0), end: p.End,
			stable: p.Stable, seq: l.audit.LogSeq(topic, p.Partition), records: byOffset(p.Records),
		}
		if n := len(log.records); n > 0 {
			log.end = max(log.end, log.records[n-1].Offset+1)
		}
		log.open = log.findOpen()
		logs[i] = log
	}
	return logs
}

// byOffset returns records in order of offset, as the audit reads them anyway.
func byOffset(records []model.Record) []model.Record {
	compare := func(a, b model.Record) int { return cmp.Compare(a.Offset, b.Offset) }
	if !slices.IsSortedFunc(records, compare) {
		records = slices.Clone(records)
		slices.SortStableFunc(records, compare)
	}
	return records
}

// find returns the place of an offset among the records, -1 where nothing stands
// at it.
func (l *partitionLog) find(offset int64) int {
	if len(l.records) == 0 {
		return -1
	}
	// Without holes, which is nearly always, the place follows from the offset.
	if i := offset - l.records[0].Offset; i >= 0 && i < int64(len(l.records)) &&
		l.records[i].Offset == offset {
		return int(i)
	}
	i, ok := slices.BinarySearchFunc(l.records, offset, func(r model.Record, offset int64) int {
		return cmp.Compare(r.Offset, offset)
	})
	if !ok {
		return -1
	}
	return i
}

// at returns what stands at an offset, nil for nothing.
func (l *partitionLog) at(offset int64) *model.Record {
	if i := l.find(offset); i >= 0 {
		return &l.records[i]
	}
	return nil
}

// logOf returns the log of a partition, nil where there is none.
func logOf(logs []partitionLog, partition int32) *partitionLog {
	for i := range logs {
		if logs[i].partition == partition {
			return &logs[i]
		}
	}
	return nil
}

// committed returns what the audit says of the group's offset; an Offset of -1
// and a Seq of 0 where it says nothing.
func (l *ledger) committed(group, topic string, partition int32) model.GroupOffset {
	for _, c := range l.audit.Commits {
		if c.Group == group && c.Topic == topic && c.Partition == partition {
			return c
		}
	}
	return model.GroupOffset{Group: group, Topic: topic, Partition: partition, Offset: -1}
}

// line is one line of an audited object.
type line struct {
	partition int32
	offset    int64
	kind      model.RecordKind
	id        string
	object    *model.Object
}

// lines are lines of one topic by partition, offset and object key.
type lines []line

// lines returns what the audited objects say of a topic.
func (l *ledger) lines(topic string) lines {
	n := 0
	for i := range l.audit.Objects {
		for j := range l.audit.Objects[i].Parts {
			n += len(l.audit.Objects[i].Parts[j].Records)
		}
	}
	all := make(lines, 0, n)
	for i := range l.audit.Objects {
		o := &l.audit.Objects[i]
		for j := range o.Parts {
			if o.Parts[j].Topic != topic {
				continue
			}
			for k := range o.Parts[j].Records {
				r := &o.Parts[j].Records[k]
				all = append(all, line{o.Parts[j].Partition, r.Offset, r.Kind, r.ID, o})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { // objects come by key
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	return all
}

// at returns the lines that are about one offset.
func (l lines) at(partition int32, offset int64) lines {
	from, _ := slices.BinarySearchFunc(l, offset, func(x line, offset int64) int {
		return cmp.Or(cmp.Compare(x.partition, partition), cmp.Compare(x.offset, offset))
	})
	to := from
	for to < len(l) && l[to].partition == partition && l[to].offset == offset {
		to++
	}
	return l[from:to]
}

// holding returns the first of the lines that holds the data of id.
func (l lines) holding(id string) *line {
	for i := range l {
		if l[i].kind == model.Data && l[i].id == id {
			return &l[i]
		}
	}
	return nil
}

// objectsUnread reports whether some object could not be read, so that a line
// that is not found may be there all the same.
func (l *ledger) objectsUnread() bool {
	return l.unread("object", func(e *model.Event) bool {
		_, found := slices.BinarySearchFunc(l.audit.Objects, e.Key,
			func(o model.Object, key string) int { return cmp.Compare(o.Key, key) })
		return !found
	})
}

// logUnread reports whether some partition of the topic could not be read.
func (l *ledger) logUnread(topic string) bool {
	return l.unread("log", func(e *model.Event) bool {
		for i := range e.Parts {
			p := &e.Parts[i]
			if p.Topic == topic && l.audit.LogSeq(topic, p.Partition) == 0 {
				return true
			}
		}
		return len(e.Parts) == 0 // it does not say what it could not read
	})
}

// commitUnread reports whether some offset of the group could not be read.
func (l *ledger) commitUnread(group string) bool {
	return l.unread("commit", func(e *model.Event) bool { return e.Group == group })
}

func (l *ledger) unread(op string, still func(*model.Event) bool) bool {
	events := l.h.Events()
	for _, seq := range l.audit.Failed {
		if e := &events[seq-1]; e.Op == op && still(e) {
			return true
		}
	}
	return false
}
