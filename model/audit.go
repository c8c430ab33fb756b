package model

import (
	"cmp"
	"slices"
	"strings"
)

// Audited is what the audit found at the end of a run: not what anyone was told
// but what is really there. It shares its slices with the history: read them, do
// not change them.
//
// The audit writes one event of kind [Observe] per thing it read:
//
//   - Op "log", one per partition: Parts[0] has Topic, Partition, Offset (the log
//     start), End, Stable, and as Records everything that can be read, control
//     records ([CommitMarker], [AbortMarker]) and data of aborted transactions
//     ([Aborted]) too.
//   - Op "commit", one per group and partition: Group, and in Parts[0] Topic,
//     Partition and Offset, the committed next offset to read, -1 where there is
//     none.
//   - Op "object", one per object that a listing named: Key, Digest, ETag, Bytes,
//     in Parts the lines of the object by partition: Record.Offset, ID, and
//     Kind [Data], [Rejected] or [Hole], and in Counts what it counts or names.
//   - Op "row", one per row of a database's enrollments: Key is learner/course, LSN
//     the position of the change that it has, and the record in Parts has Key, ID (the
//     position again) and Cell, what was done.
//   - Op "outbox", one per row of a database's outbox: Key is learner/course, LSN the
//     position of its commit, the record in Parts has Offset (the row's id), ID (its
//     source_lsn), Key and Cell, and the count "published" is 1 or 0.
//   - Op "slot", one for a replication slot: LSN is its confirmed position, Note its
//     state, and the counts "retained" and "lag" are in bytes.
//
// An event with Err, or whose part has Err, says that this could not be read. It
// adds nothing to the lists and its Seq is in Failed: what a promise then does
// not find may be there all the same. Of two readings of one thing the later
// counts.
type Audited struct {
	Logs    []Part        // by topic and partition
	LogSeqs []int64       // LogSeqs[i] is the Seq of the event behind Logs[i]
	Commits []GroupOffset // by group, topic and partition
	Objects []Object      // by key
	Rows    []Row         // by key
	Outbox  []OutboxRow   // by id
	Slot    Slot          // Seq is 0 where there is no database
	Failed  []int64       // Seq of each event that says that something could not be read
	Seen    int           // number of events of the audit, of any Op
}

// GroupOffset is the next offset that a group would read, as it is stored.
type GroupOffset struct {
	Group, Topic string
	Partition    int32
	Offset       int64 // -1: the group has none
	Seq          int64 // of the event that says so
}

// Object is one object of a store.
type Object struct {
	Key, Digest, ETag string
	Bytes             int64
	Parts             []Part // its lines, by partition
	Counts            []Count
	Seq               int64 // of the event that says so
}

// Audit folds the audit's events of h. A history without any gives the zero
// value.
func Audit(h *History) Audited {
	var a Audited
	var logs []logRead
	for i := range h.events {
		e := &h.events[i]
		if e.Kind != Observe {
			continue
		}
		a.Seen++
		if failed(e) {
			a.Failed = append(a.Failed, e.Seq)
			continue
		}
		switch e.Op {
		case "log":
			for j := range e.Parts {
				logs = append(logs, logRead{&e.Parts[j], e.Seq})
			}
		case "commit":
			for j := range e.Parts {
				a.Commits = append(a.Commits, groupOffset(e, &e.Parts[j]))
			}
		case "object":
			a.Objects = append(a.Objects, object(e))
		default:
			a.databaseRead(e)
		}
	}
	for _, l := range lastOf(logs, logRead.compare) {
		a.Logs = append(a.Logs, *l.part)
		a.LogSeqs = append(a.LogSeqs, l.seq)
	}
	a.Commits = lastOf(a.Commits, GroupOffset.compare)
	a.Rows = lastOf(a.Rows, Row.compare)
	a.Outbox = lastOf(a.Outbox, OutboxRow.compare)
	a.Objects = lastOf(a.Objects, func(x, y Object) int { return strings.Compare(x.Key, y.Key) })
	return a
}

// Ran reports whether there was an audit at all. Without one, that something is
// missing from the lists means nothing.
func (a Audited) Ran() bool { return a.Seen > 0 }

// Topic returns the logs of one topic, in order of partition; none where the
// audit did not read it.
func (a Audited) Topic(topic string) []Part {
	byTopic := func(p Part, topic string) int { return strings.Compare(p.Topic, topic) }
	from, ok := slices.BinarySearchFunc(a.Logs, topic, byTopic)
	if !ok {
		return nil
	}
	to := from
	for to < len(a.Logs) && a.Logs[to].Topic == topic {
		to++
	}
	return a.Logs[from:to:to]
}

// LogSeq returns the Seq of the event that says what is in a partition, to name
// it as a witness; 0 where the audit did not read that partition.
func (a Audited) LogSeq(topic string, partition int32) int64 {
	for i := range a.Logs {
		if a.Logs[i].Topic == topic && a.Logs[i].Partition == partition {
			return a.LogSeqs[i]
		}
	}
	return 0
}

// Committed returns the next offset to read that the group has committed, -1
// where it has none. It reports false where the audit did not ask: the offset is
// -1 then too, but nothing is known.
func (a Audited) Committed(group, topic string, partition int32) (int64, bool) {
	want := GroupOffset{Group: group, Topic: topic, Partition: partition}
	i, ok := slices.BinarySearchFunc(a.Commits, want, GroupOffset.compare)
	if !ok {
		return -1, false
	}
	return a.Commits[i].Offset, true
}

type logRead struct {
	part *Part
	seq  int64
}

func (l logRead) compare(m logRead) int {
	return cmp.Or(strings.Compare(l.part.Topic, m.part.Topic),
		cmp.Compare(l.part.Partition, m.part.Partition))
}

func (g GroupOffset) compare(h GroupOffset) int {
	return cmp.Or(strings.Compare(g.Group, h.Group), strings.Compare(g.Topic, h.Topic),
		cmp.Compare(g.Partition, h.Partition))
}

func groupOffset(e *Event, p *Part) GroupOffset {
	return GroupOffset{
		Group: e.Group, Topic: p.Topic, Partition: p.Partition, Offset: p.Offset, Seq: e.Seq,
	}
}

func object(e *Event) Object {
	return Object{
		Key: e.Key, Digest: e.Digest, ETag: e.ETag, Bytes: e.Bytes,
		Parts: e.Parts, Counts: e.Counts, Seq: e.Seq,
	}
}

// failed reports whether an event says that what it is about did not happen.
func failed(e *Event) bool {
	if e.Err != "" {
		return true
	}
	for i := range e.Parts {
		if e.Parts[i].Err != "" {
			return true
		}
	}
	return false
}

// lastOf sorts s and keeps the last of equal elements. It reuses s.
func lastOf[T any](s []T, compare func(T, T) int) []T {
	slices.SortStableFunc(s, compare)
	kept := s[:0]
	for i := range s {
		if i+1 == len(s) || compare(s[i], s[i+1]) != 0 {
			kept = append(kept, s[i])
		}
	}
	return kept
}
