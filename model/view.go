package model

import (
	"slices"
	"strings"
)

// View is the state that a run has reached, folded from boundary events while it
// goes on: the logs' ends, the groups' offsets, the objects. A world asks it
// whether everything has drained. What the audit finds at the end is
// [Audited]; the two differ where something changed past every tap.
//
// An answer stands alone: it repeats from its request what the fold needs.
//
//   - a [Reply] of "Produce": Parts with Offset, the base offset, and Records
//     with their offsets; the part's Err is empty where it was appended
//   - a [Reply] of "OffsetCommit": Group, and Parts with Offset, the next offset
//     to read; the part's Err is empty where it was applied
//   - a [Reply] of "Fetch": Parts with End
//   - a [Return] of "put" or "putif": Key, Digest, ETag, Bytes, Parts; of
//     "delete": Key; Err is empty where it was applied
//   - a [Return] of "commit": in the parts of "outbox" and "enrollment" the Offset and
//     the ID of their records (see [Audited]); of "mark": the same of "outbox"; of
//     "confirm": LSN. A [Fault] with LSN: the slot's position after it
//   - an [Alert]: Op, what the process called an operator for
//   - a [Note] with Op "ask": an application handed a record to a process; with
//     Op "answer": the process told the application the outcome
//
// Only Err says that something did not happen. An answer whose Outcome is
// Unknown was lost on its way back, and what it says was done all the same. What
// two answers say happened in the order of their requests (see [Event.Took]).
//
// Offsets that a transaction commits ("TxnOffsetCommit") count once its "EndTxn",
// with the note "commit", is answered. A topic that is deleted and made again is
// not folded: its end never falls.
//
// A View is not safe for concurrent use.
type View struct {
	ends            map[Position]int64 // Offset 0 in every key
	commits         map[groupPartition]lastCommit
	txns            map[string]*txnOffsets // by transactional id
	objects         map[string]lastPut
	asked, answered int
	alerts          map[string]int
	tables          tables
}

// lastCommit and lastPut remember which request said so: an answer that took long
// must not undo what a later request did.
type lastCommit struct{ offset, by int64 }

type lastPut struct {
	object Object // Key is empty where it was deleted
	by     int64
}

type groupPartition struct {
	group, topic string
	partition    int32
}

// NewView returns the view of a run in which nothing has happened yet.
func NewView() *View {
	return &View{
		ends:    map[Position]int64{},
		commits: map[groupPartition]lastCommit{},
		txns:    map[string]*txnOffsets{},
		objects: map[string]lastPut{},
		alerts:  map[string]int{},
		tables:  newTables(),
	}
}

// Apply folds in the next event. The view keeps e.Parts of a put, so those must
// not change afterwards; e itself is not kept.
func (v *View) Apply(e *Event) {
	switch {
	case e.Kind == Note && e.Op == "ask":
		v.asked++
	case e.Kind == Note && e.Op == "answer":
		v.answered++
	case e.Kind == Alert:
		v.alerts[e.Op]++
	case e.Op == "EndTxn" && (e.Kind == Request || e.Err != ""):
		v.ending(e)
	case e.Err != "":
	case e.Kind == Reply:
		v.reply(e)
	case e.Kind == Return:
		v.store(e)
		v.database(e)
	case e.Kind == Fault && e.LSN != "":
		v.tables.confirmed, v.tables.by = e.LSN, e.Seq
	}
}

func (v *View) reply(e *Event) {
	if e.TxnID != "" {
		v.transaction(e)
	}
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Err != "" {
			continue
		}
		switch e.Op {
		case "Produce":
			v.raise(p, appendedEnd(p))
		case "Fetch":
			v.raise(p, max(p.End, appendedEnd(&Part{Offset: -1, Records: p.Records})))
		case "OffsetCommit":
			v.commit(groupPartition{e.Group, p.Topic, p.Partition}, p.Offset, e.Took())
		}
	}
}

func (v *View) commit(at groupPartition, offset, by int64) {
	if by >= v.commits[at].by {
		v.commits[at] = lastCommit{offset, by}
	}
}

// appendedEnd returns one past the last record of a part, by the base offset
// and by the records' own offsets, of which one may be missing.
func appendedEnd(p *Part) int64 {
	end := int64(0)
	if p.Offset >= 0 {
		end = p.Offset + int64(len(p.Records))
	}
	for i := range p.Records {
		end = max(end, p.Records[i].Offset+1)
	}
	return end
}

func (v *View) raise(p *Part, end int64) {
	at := Position{Topic: p.Topic, Partition: p.Partition}
	if end > v.ends[at] {
		v.ends[at] = end
	}
}

func (v *View) store(e *Event) {
	by := e.Took()
	if by < v.objects[e.Key].by {
		return
	}
	switch e.Op {
	case "put", "putif":
		v.objects[e.Key] = lastPut{object(e), by}
	case "delete":
		v.objects[e.Key] = lastPut{by: by}
	}
}

// End returns one past the last offset that is known to be appended to a
// partition; 0 when none is. Records that someone else appended, and control
// records, are known once a Fetch reply says so.
func (v *View) End(topic string, partition int32) int64 {
	return v.ends[Position{Topic: topic, Partition: partition}]
}

// Committed returns the next offset to read that the group committed last; -1
// when it committed none.
func (v *View) Committed(group, topic string, partition int32) int64 {
	c, ok := v.commits[groupPartition{group, topic, partition}]
	if !ok {
		return -1
	}
	return c.offset
}

// Object returns the object that stands under key, and whether there is one.
func (v *View) Object(key string) (Object, bool) {
	o := v.objects[key].object
	return o, o.Key != ""
}

// Keys returns the keys of the objects that start with prefix, sorted.
func (v *View) Keys(prefix string) []string {
	var keys []string
	for key := range v.objects {
		if v.objects[key].object.Key != "" && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Alerts returns how often processes have called an operator with these words.
func (v *View) Alerts(what string) int { return v.alerts[what] }

// Asked returns how often an application handed a record to a process.
func (v *View) Asked() int { return v.asked }

// Answered returns how often a process told an application the outcome of a
// record, whatever that outcome was.
func (v *View) Answered() int { return v.answered }
