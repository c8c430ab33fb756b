package props

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// Source says how changes get from a database into a topic, and so what a record of the
// topic is called.
type Source string

const (
	// FromOutbox is a poller: a record has the position of its outbox row, and is
	// pending as long as that row is not marked.
	FromOutbox Source = "outbox"
	// FromLog is a reader of a replication slot: a record has the position of its
	// commit, and is pending as long as the slot is not confirmed so far.
	FromLog Source = "log"
)

// Tables, as a database's events name them.
const (
	outboxTable     = "outbox"
	enrollmentTable = "enrollment"
)

// opEnrolled is the change that takes a seat.
const opEnrolled = "enrolled"

// change is one committed change of an enrollment.
type change struct {
	id, key, op string
	order       string // its place in the order of commits
	took        int64  // when its commit took effect; 0: not told
	pending     bool   // nobody has said that it is published
	seq         int64  // of the event that tells of it
}

// ledgerOfChanges is what a history says of a database, and of a topic that its
// changes are published to.
type ledgerOfChanges struct {
	*ledger
	topic    string
	source   Source
	changes  []change // in the order of commits
	byID     map[string]*change
	logs     []partitionLog
	first    map[string]spot  // where the first copy of an id stands
	appended map[string]int64 // when the first copy was asked to be appended
	known    bool             // the database and the topic were read, whole
}

// spot is where a record stands, and the event of the audit that says so.
type spot struct {
	partition int32
	offset    int64
	seq       int64
}

// openChanges folds what promises about published changes look up.
func openChanges(h *model.History, topic string, source Source) *ledgerOfChanges {
	l := &ledgerOfChanges{
		ledger: openLedger(h), topic: topic, source: source,
		byID: make(map[string]*change), first: make(map[string]spot),
		appended: make(map[string]int64),
	}
	l.readChanges()
	slices.SortStableFunc(l.changes, func(a, b change) int {
		return strings.Compare(a.order, b.order)
	})
	for i := range l.changes {
		l.byID[l.changes[i].id] = &l.changes[i]
	}
	l.logs = l.ledger.logs(topic)
	whole := len(l.logs) > 0 && !l.logUnread(topic)
	for i := range l.logs {
		log := &l.logs[i]
		whole = whole && log.start == 0
		for r := range log.decided() {
			if _, ok := l.first[r.ID]; !ok {
				l.first[r.ID] = spot{log.partition, r.Offset, log.seq}
			}
		}
	}
	l.readAppends()
	l.known = whole && (source == FromOutbox || l.audit.Slot.State != "")
	return l
}

// readChanges lists the committed changes: a poller's by the outbox that the audit read,
// those of the log by the commits.
func (l *ledgerOfChanges) readChanges() {
	took := make(map[string]int64)
	for _, s := range steps(l.h, model.Call, model.Return, "commit") {
		for i := range s.answer.Parts {
			p := &s.answer.Parts[i]
			for j := range p.Records {
				r := &p.Records[j]
				took[r.ID] = s.ask.Seq
				if l.source == FromLog && p.Topic == enrollmentTable {
					l.changes = append(l.changes, change{
						id: r.ID, key: r.Key, op: r.Cell, order: r.ID, took: s.ask.Seq,
						pending: r.ID > l.audit.Slot.Confirmed, seq: s.answer.Seq,
					})
				}
			}
		}
	}
	if l.source != FromOutbox {
		return
	}
	for _, row := range l.audit.Outbox {
		l.changes = append(l.changes, change{
			id: row.Source, key: row.Key, op: row.Op, order: row.Commit, took: took[row.Source],
			pending: !row.Published, seq: row.Seq,
		})
	}
}

// readAppends notes when each id was first asked to be appended, of the requests that
// did append.
func (l *ledgerOfChanges) readAppends() {
	events := l.h.Events()
	for i := range events {
		e := &events[i]
		if e.Kind != model.Reply || e.Op != "Produce" || e.Err != "" {
			continue
		}
		for j := range e.Parts {
			p := &e.Parts[j]
			if p.Topic != l.topic || p.Err != "" {
				continue
			}
			for k := range p.Records {
				id := p.Records[k].ID
				if at, ok := l.appended[id]; !ok || e.Took() < at {
					l.appended[id] = e.Took()
				}
			}
		}
	}
}

// inTopicBy reports whether a copy of an id was in the topic when something was asked
// for. A copy that the audit found and no reply tells of is given the benefit of the
// doubt.
func (l *ledgerOfChanges) inTopicBy(id string, seq int64) bool {
	at, told := l.appended[id]
	if told {
		return at < seq
	}
	_, found := l.first[id]
	return found
}

// settled reports whether no change is pending any more.
func (l *ledgerOfChanges) settled() bool {
	return !slices.ContainsFunc(l.changes, func(c change) bool { return c.pending })
}

// snapshot is the fold of one partition, as the audit found it.
type snapshot struct {
	*model.Object
	part *model.Part
}

// snapshots returns the folds below prefix, by partition, and whether they have read
// the topic to its end.
func (l *ledgerOfChanges) snapshots(prefix string) (all []snapshot, whole bool) {
	for i := range l.audit.Objects {
		o := &l.audit.Objects[i]
		if !strings.HasPrefix(o.Key, prefix+"/") {
			continue
		}
		for j := range o.Parts {
			if o.Parts[j].Topic == l.topic {
				all = append(all, snapshot{o, &o.Parts[j]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b snapshot) int {
		return cmp.Compare(a.part.Partition, b.part.Partition)
	})
	whole = !l.objectsUnread()
	for i := range l.logs {
		read := int64(0)
		for _, s := range all {
			if s.part.Partition == l.logs[i].partition {
				read = s.part.Offset
			}
		}
		whole = whole && read >= l.logs[i].end
	}
	return all, whole
}

// courseOf is the part of a key after the learner.
func courseOf(key string) string {
	_, course, _ := strings.Cut(key, "/")
	return course
}

// lastNote returns the last note with an op, nil for none.
func lastNote(h *model.History, op string) *model.Event {
	events := h.Events()
	for i := len(events) - 1; i >= 0; i-- {
		if e := &events[i]; e.Kind == model.Note && e.Op == op {
			return e
		}
	}
	return nil
}
