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

// changeName is what tells changes apart. Two transactions may find the log of the
// database at one position when they insert their outbox rows, but not of one key.
type changeName struct{ id, key string }

func nameOf(r *model.Record) changeName { return changeName{r.ID, r.Key} }

// change is one committed change of an enrollment.
type change struct {
	changeName
	op      string
	order   string // its place in the order of commits
	took    int64  // its commit took effect here at the latest; 0: not told
	pending bool   // nobody has said that it is published
	seq     int64  // of the event that tells of it
}

// ledgerOfChanges is what a history says of a database, and of a topic that its
// changes are published to.
type ledgerOfChanges struct {
	*ledger
	topic    string
	source   Source
	changes  []change // in the order of commits
	byName   map[changeName]*change
	logs     []partitionLog
	first    map[changeName]spot  // where the first copy of a change stands
	appended map[changeName]int64 // when the first copy was asked to be appended
	known    bool                 // the database and the topic were read, whole
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
		byName: make(map[changeName]*change), first: make(map[changeName]spot),
		appended: make(map[changeName]int64),
	}
	l.readChanges()
	slices.SortStableFunc(l.changes, func(a, b change) int {
		return strings.Compare(a.order, b.order)
	})
	for i := range l.changes {
		l.byName[l.changes[i].changeName] = &l.changes[i]
	}
	l.logs = l.ledger.logs(topic)
	whole := len(l.logs) > 0 && !l.logUnread(topic)
	for i := range l.logs {
		log := &l.logs[i]
		whole = whole && log.start == 0
		for r := range log.decided() {
			if _, ok := l.first[nameOf(r)]; !ok && r.Class == "" {
				l.first[nameOf(r)] = spot{log.partition, r.Offset, log.seq}
			}
		}
	}
	l.readAppends()
	l.known = whole && (source == FromOutbox || l.audit.Slot.State != "")
	return l
}

// readChanges lists the committed changes: a poller's by the outbox that the audit read,
// those of the log by the answers to commits, by what a stream handed out, and by the
// rows that the audit read, which tell of the last change of each key.
func (l *ledgerOfChanges) readChanges() {
	if l.source == FromOutbox {
		for _, row := range l.audit.Outbox {
			l.changes = append(l.changes, change{
				changeName: changeName{row.Source, row.Key}, op: row.Op, order: row.Commit,
				pending: !row.Published, seq: row.Seq,
			})
		}
		return
	}
	told := make(map[changeName]bool)
	for _, s := range steps(l.h, model.Call, model.Return, "commit", "next") {
		took := s.ask.Seq
		if s.ask.Op == "next" {
			took = s.answer.Seq
		}
		for i := range s.answer.Parts {
			p := &s.answer.Parts[i]
			for j := range p.Records {
				if r := &p.Records[j]; p.Topic == enrollmentTable {
					l.addChange(told, change{
						changeName: nameOf(r), op: r.Cell, took: took, seq: s.answer.Seq,
					})
				}
			}
		}
	}
	for _, row := range l.audit.Rows {
		l.addChange(told, change{
			changeName: changeName{row.LSN, row.Key}, op: row.Op, seq: row.Seq,
		})
	}
}

// addChange adds a change from the log, unless it has been told already. A server that
// has no witness says no position with a commit.
func (l *ledgerOfChanges) addChange(told map[changeName]bool, c change) {
	if c.id == "" || told[c.changeName] {
		return
	}
	told[c.changeName] = true
	c.order, c.pending = c.id, c.id > l.audit.Slot.Confirmed
	l.changes = append(l.changes, c)
}

// readAppends notes when each change was first asked to be appended, of the requests
// that did append, and that no aborted transaction took back.
func (l *ledgerOfChanges) readAppends() {
	for a := range appends(l.h, l.topic) {
		if log := logOf(l.logs, a.part.Partition); log != nil {
			if r := log.at(a.offset); r != nil && r.Kind == model.Aborted {
				continue
			}
		}
		name := nameOf(a.record)
		if at, ok := l.appended[name]; !ok || a.event.Took() < at {
			l.appended[name] = a.event.Took()
		}
	}
}

// inTopicBy reports whether a copy of a change was in the topic when something was asked
// for. A copy that the audit found and no reply tells of is given the benefit of the
// doubt.
func (l *ledgerOfChanges) inTopicBy(name changeName, seq int64) bool {
	at, told := l.appended[name]
	if told {
		return at < seq
	}
	_, found := l.first[name]
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
		next := int64(0) // of what there is to fold: a control record is nothing
		for r := range l.logs[i].decided() {
			next = r.Offset + 1
		}
		whole = whole && read >= next
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
