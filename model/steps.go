package model

import "slices"

// Commit is one partition of one OffsetCommit reply.
type Commit struct {
	Seq       int64 // of the reply
	Took      int64 // when it took effect: see [Event.Took]
	Proc      string
	Life      int
	Topic     string
	Partition int32
	Offset    int64 // the next offset to read
	Applied   bool  // the broker stored it, whoever got to know
}

// Commits returns every OffsetCommit that a broker answered for the group, in
// the order in which they took effect. Offsets that a transaction commits are not among
// them.
func Commits(h *History, group string) []Commit {
	var commits []Commit
	for i := range h.events {
		e := &h.events[i]
		if e.Kind != Reply || e.Op != "OffsetCommit" || e.Group != group {
			continue
		}
		for j := range e.Parts {
			p := &e.Parts[j]
			commits = append(commits, Commit{
				Seq: e.Seq, Took: e.Took(), Proc: e.Proc, Life: e.Life,
				Topic: p.Topic, Partition: p.Partition, Offset: p.Offset,
				Applied: e.Err == "" && p.Err == "",
			})
		}
	}
	slices.SortStableFunc(commits, func(a, b Commit) int { return int(a.Took - b.Took) })
	return commits
}

// Put is one answer of a store to a put, conditional or not.
type Put struct {
	Seq     int64 // of the return
	Took    int64 // when it took effect: see [Event.Took]
	Proc    string
	Life    int
	Key     string
	Digest  string // of what was to be stored
	Parts   []Part // its lines by partition; shared with the history
	Counts  []Count
	Applied bool // the store holds it, whoever got to know
}

// Puts returns every put and putif that a store answered, in the order in which
// they took effect.
func Puts(h *History) []Put {
	var puts []Put
	for i := range h.events {
		e := &h.events[i]
		if e.Kind != Return || e.Op != "put" && e.Op != "putif" {
			continue
		}
		puts = append(puts, Put{
			Seq: e.Seq, Took: e.Took(), Proc: e.Proc, Life: e.Life,
			Key: e.Key, Digest: e.Digest, Parts: e.Parts, Counts: e.Counts,
			Applied: e.Err == "",
		})
	}
	slices.SortStableFunc(puts, func(a, b Put) int { return int(a.Took - b.Took) })
	return puts
}

// Send is one record that a client library took to be sent.
type Send struct {
	Seq       int64 // of the note
	Proc      string
	Life      int
	Topic     string
	Partition int32 // -1: not chosen yet
	ID        string
	Key       string
	Digest    string // of the value
}

// Sends returns every record that a client library took, in the order of the
// history: the events of kind [Note] and Op "send", with the topic in Parts[0]
// and the record in its Records[0].
func Sends(h *History) []Send {
	var sends []Send
	for n := range notes(h, "send") {
		sends = append(sends, Send{
			Seq: n.e.Seq, Proc: n.e.Proc, Life: n.e.Life,
			Topic: n.p.Topic, Partition: n.p.Partition,
			ID: n.r.ID, Key: n.r.Key, Digest: n.r.Digest,
		})
	}
	return sends
}

// Ack is how a client library resolved its promise for one record.
type Ack struct {
	Seq       int64 // of the note
	Proc      string
	Life      int
	Topic     string
	Partition int32 // -1: never chosen
	Offset    int64 // where the record stands, when Outcome is Done; -1: not said
	ID        string
	Outcome   Outcome
	Err       string // why it is not Done
}

// Acks returns every promise that a client library resolved, in the order of the
// history: the events of kind [Note] and Op "ack", with the partition in
// Parts[0] and the record in its Records[0].
func Acks(h *History) []Ack {
	var acks []Ack
	for n := range notes(h, "ack") {
		acks = append(acks, Ack{
			Seq: n.e.Seq, Proc: n.e.Proc, Life: n.e.Life,
			Topic: n.p.Topic, Partition: n.p.Partition, Offset: n.r.Offset,
			ID: n.r.ID, Outcome: n.e.Outcome, Err: n.e.Err,
		})
	}
	return acks
}

// noted is one record that a note speaks of.
type noted struct {
	e *Event
	p *Part
	r *Record
}

// notes yields the records of the notes with one op. A note has one record by
// convention; one with more loses none of them.
func notes(h *History, op string) func(yield func(noted) bool) {
	return func(yield func(noted) bool) {
		for i := range h.events {
			e := &h.events[i]
			if e.Kind != Note || e.Op != op {
				continue
			}
			for j := range e.Parts {
				p := &e.Parts[j]
				for k := range p.Records {
					if !yield(noted{e, p, &p.Records[k]}) {
						return
					}
				}
			}
		}
	}
}
