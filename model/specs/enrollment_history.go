package specs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// enrollmentSilent are what a publisher does of which the specification knows nothing.
var enrollmentSilent = []string{"ApiVersions", "Metadata", "FindCoordinator", "InitProducerID"}

// enrollmentInternal are the steps that no history shows.
func enrollmentInternal(action string) bool { return action == "give up" }

// conformEnrollment compares a whole outbox, or a whole slot. Its changes are those that
// the audit found in the outbox; it says in which order they were committed.
//
//   - the calls of publish and commit of a transaction draw the id and commit
//   - the call of a claim, a mark and a release is that, and the return tells the poller
//   - the return of a stream and of a next is that; the call of a confirm confirms
//   - the request of a Produce puts changes into the topic, its reply tells the publisher
//   - a crash and an exit end a life
//   - a fault of the database is a crash of the server
//   - the audit says what must have come of it, also of the fold if it has read all
func conformEnrollment(h *model.History, at Topology) Conformity {
	audit := model.Audit(h)
	r := enrollmentReader{
		h: h, at: at, by: answers(h), audit: &audit, ids: make(map[int64]int),
		sources: make(map[string]int), claims: make(map[string]uint64),
	}
	w, err := r.word()
	if err != nil {
		return Conformity{Undecided: []string{fmt.Sprintf("enrollment of %s: %v", at.Topic, err)}}
	}
	return follow(w)
}

// enrollmentReader reads the hop out of a history.
type enrollmentReader struct {
	h     *model.History
	at    Topology
	by    []*model.Event // answers, by the Seq of what they answer
	audit *model.Audited

	spec    enrollment
	first   EnrollmentState
	seen    []observation[EnrollmentState]
	ids     map[int64]int  // changes, by the id of the outbox row
	sources map[string]int // changes, by the position that a record of them has
	commits []string       // where each change was committed
	keys    []string
	claims  map[string]uint64     // what each claim locks, by what the history calls it
	ended   int64                 // Seq of what has ended streams last
	told    [MaxPublishers]string // up to where each publisher's stream was confirmed
	fault   error
}

func (r *enrollmentReader) word() (word[EnrollmentState], error) {
	if err := r.changes(); err != nil {
		return word[EnrollmentState]{}, err
	}
	events := r.h.Events()
	for i := range events {
		r.event(&events[i])
	}
	r.end()
	spec := r.spec.spec()
	spec.Init = []EnrollmentState{r.first}
	return word[EnrollmentState]{
		of: r.at.Topic, spec: spec, seen: r.seen, internal: enrollmentInternal, lazy: true,
		show: (*EnrollmentState).String, class: classOfEnrollment,
	}, r.fault
}

// lsnDigits is how many digits of a position say where the transaction committed.
const lsnDigits = 16

// changes finds out what the outbox holds.
func (r *enrollmentReader) changes() error {
	rows := slices.Clone(r.audit.Outbox) // by id
	switch {
	case !r.audit.Ran():
		return fmt.Errorf("no audit has read the outbox")
	case len(rows) > maxOffsets:
		return fmt.Errorf("it has %d changes, and a state has room for %d", len(rows), maxOffsets)
	}
	slices.SortFunc(rows, func(a, b model.OutboxRow) int { return cmp.Compare(a.Commit, b.Commit) })
	order := make([]uint8, len(rows))
	r.first.Log = slices.ContainsFunc(r.h.Events(), func(e model.Event) bool {
		return e.Op == "stream" && r.publisher(&e) >= 0
	})
	for i, row := range rows {
		key := slices.Index(r.keys, row.Key)
		if key < 0 {
			key = len(r.keys)
			r.keys = append(r.keys, row.Key)
		}
		r.spec.keys = append(r.spec.keys, uint8(key))
		r.commits = append(r.commits, row.Commit)
		r.ids[row.ID] = i
		for _, other := range rows {
			if other.ID < row.ID {
				order[i]++
			}
		}
		if r.first.Log {
			r.sources[row.Commit[:min(len(row.Commit), lsnDigits)]] = i
		} else {
			r.sources[row.Source] = i
		}
	}
	if len(r.keys) > MaxEnrollmentKeys {
		return fmt.Errorf("it has %d keys, and a state has room for %d", len(r.keys),
			MaxEnrollmentKeys)
	}
	r.spec.changes, r.spec.publishers, r.spec.free = len(rows), MaxPublishers, true
	r.spec.orders = [][]uint8{order}
	return nil
}

// change returns the number of the change that a record is about; -1 for none.
func (r *enrollmentReader) change(rec *model.Record) int {
	id := rec.ID
	if r.first.Log {
		id = id[:min(len(id), lsnDigits)]
	}
	if i, ok := r.sources[id]; ok && r.keys[r.spec.keys[i]] == rec.Key {
		return i
	}
	return -1
}

// upTo returns how many changes are committed up to a position.
func (r *enrollmentReader) upTo(lsn string) uint8 {
	n := uint8(0)
	for _, commit := range r.commits {
		if commit[:min(len(commit), lsnDigits)]+"/00000001" <= lsn {
			n++
		}
	}
	return n
}

// publisher returns the number of the publisher that an event is of; -1 for others.
func (r *enrollmentReader) publisher(e *model.Event) int {
	n, err := r.at.replica(e, "publishers", MaxPublishers)
	if err != nil {
		r.fault = err
	}
	return n
}

func (r *enrollmentReader) event(e *model.Event) {
	if e.Kind == model.Fault && strings.HasPrefix(e.Note, "database ") {
		confirmed := r.upTo(e.LSN)
		r.ended = e.Seq
		r.add(e, check.Nobody, enrollment.server, func(_, after *EnrollmentState) bool {
			return !r.first.Log || after.Confirmed == confirmed
		}, "server crash")
		return
	}
	p := r.publisher(e)
	switch {
	case p < 0:
		r.application(e)
	case e.Kind == model.Crash || e.Kind == model.Exit:
		r.add(e, p, enrollment.crash, nil, "crash")
		r.told[p] = ""
	case !e.Kind.Boundary():
	case e.Op == "Produce":
		r.produce(e, p)
	case e.Op == "claim":
		r.claim(e, p)
	case e.Op == "mark":
		r.mark(e, p)
	case e.Op == "release":
		r.release(e, p)
	case e.Op == "stream" || e.Op == "next":
		r.stream(e, p)
	case e.Op == "confirm":
		r.confirm(e, p)
	case !slices.Contains(enrollmentSilent, e.Op):
		r.fault = fmt.Errorf("the specification says nothing of %s", e.Op)
	}
}

// enrollmentDoes is a part of the specification: what somebody does of one kind.
type enrollmentDoes func(
	spec enrollment, c *check.Out[EnrollmentState], s *EnrollmentState, who int)

// add appends an observation of a step.
//
// house: many parameters because each observation needs them all.
func (r *enrollmentReader) add(
	e *model.Event, who int, does enrollmentDoes,
	fits func(before, after *EnrollmentState) bool, actions ...string,
) *observation[EnrollmentState] {
	spec := r.spec
	r.seen = append(r.seen, observation[EnrollmentState]{
		seq: e.Seq, what: func() string { return eventText(e) }, who: who,
		actions: actions, fits: fits,
		only: func(c *check.Out[EnrollmentState], s *EnrollmentState) { does(spec, c, s, who) },
	})
	return &r.seen[len(r.seen)-1]
}

// rows returns which changes the rows of the outbox in an event are about.
func (r *enrollmentReader) rows(e *model.Event) (changes uint64, all bool) {
	all = true
	for i := range e.Parts {
		if e.Parts[i].Topic != "outbox" {
			continue
		}
		for j := range e.Parts[i].Records {
			change, ok := r.ids[e.Parts[i].Records[j].Offset]
			if all = all && ok; ok {
				changes |= bit(change)
			}
		}
	}
	return changes, all
}

// application reads the transactions. What was never committed has no number.
func (r *enrollmentReader) application(e *model.Event) {
	if e.Kind != model.Call || e.Op != "publish" && e.Op != "commit" {
		return
	}
	rows := e
	if e.Op == "publish" {
		if rows = r.by[e.Seq]; rows == nil {
			return
		}
	}
	changes, _ := r.rows(rows)
	if changes == 0 {
		return
	}
	if e.Op == "publish" {
		r.add(e, check.Nobody, enrollment.draw, func(before, after *EnrollmentState) bool {
			return after.Drawn&^before.Drawn == changes
		}, "draw id")
		return
	}
	r.add(e, check.Nobody, enrollment.commit, func(before, _ *EnrollmentState) bool {
		return bit(int(before.Committed)) == changes
	}, "commit")
}

// answered reads what a publisher hears of a call.
func (r *enrollmentReader) answered(e *model.Event, p int) {
	if heard(e) && e.Err == "" {
		r.add(e, p, enrollment.hear, nil, "answered")
	}
}

// stream reads what begins a stream, and what it hands out.
func (r *enrollmentReader) stream(e *model.Event, p int) {
	if e.Op == "stream" {
		x := exchange{e, r.by[e.Seq]}
		if e.Kind == model.Return {
			r.answered(e, p)
		} else if x.heard() && x.answer.Err == "" {
			r.ended, r.told[p] = e.Seq, ""
			next := r.upTo(x.answer.LSN)
			r.add(e, p, enrollment.stream, func(_, after *EnrollmentState) bool {
				return after.Publishers[p].Next == next
			}, "stream")
		}
		return
	}
	if e.Kind != model.Return || !heard(e) || e.Err != "" {
		return
	}
	upTo := r.upTo(e.LSN)
	before := r.spec
	defer func() { r.spec = before }()
	r.spec.ended = e.Of < r.ended
	if len(e.Parts) == 0 {
		ended := r.spec.ended
		o := r.add(e, p, enrollment.keepalive, func(_, after *EnrollmentState) bool {
			return after.Publishers[p].Next == upTo
		}, "keepalive")
		o.holds = func(s *EnrollmentState) bool {
			return (s.Publishers[p].Streams || ended) && s.Publishers[p].Next == upTo
		}
	} else {
		change := r.change(&e.Parts[0].Records[0])
		r.add(e, p, enrollment.handOut, func(before, _ *EnrollmentState) bool {
			return int(before.Publishers[p].Next) == change
		}, "next")
	}
}

// confirm reads a confirmation. One that was heard is not made again.
func (r *enrollmentReader) confirm(e *model.Event, p int) {
	if e.Kind == model.Return {
		r.answered(e, p)
		return
	}
	again := e.LSN <= r.told[p]
	upTo := r.upTo(e.LSN)
	res := (exchange{e, r.by[e.Seq]}).result()
	o := r.add(e, p, confirmUpTo(upTo), nil, res.took("confirm")...)
	if !res.heard { // it may be late
		did := res.known && res.did
		o.holds = func(s *EnrollmentState) bool {
			return upTo <= s.Confirmed || !did && upTo <= s.Committed
		}
	}
	if again && res.heard {
		o.actions = nil
	} else if res.heard && res.did {
		r.told[p] = e.LSN
	}
}

// produce reads the changes of a request one by one, and so their acknowledgements.
func (r *enrollmentReader) produce(e *model.Event, p int) {
	for i := range e.Parts {
		part := &e.Parts[i]
		if part.Topic != r.at.Topic {
			r.fault = fmt.Errorf("a publisher writes to %s", part.Topic)
			continue
		}
		for j := range part.Records {
			change := r.change(&part.Records[j])
			if e.Kind == model.Reply {
				r.acked(e, part, p, change)
			} else {
				r.appended(e, i, p, change)
			}
		}
	}
}

// appended reads a change in part i of a Produce.
//
// house: many parameters because they are the place of a change.
func (r *enrollmentReader) appended(e *model.Event, i, p, change int) {
	x := exchange{e, r.by[e.Seq]}
	res := x.result()
	res.did = res.did && (x.answer == nil || x.answer.Parts[i].Err == "")
	if res.known && !res.did {
		return // nothing happened, and the client sends it again
	}
	actions := res.took("append")
	if !res.heard {
		actions = append(actions, "late append")
	}
	o := r.add(e, p, appends(change, !res.heard), nil, actions...)
	if change < 0 {
		o.actions = nil // it is none of the outbox
	}
}

func (r *enrollmentReader) acked(e *model.Event, part *model.Part, p, change int) {
	if !heard(e) || e.Err != "" || part.Err != "" || change < 0 {
		return
	}
	r.add(e, p, enrollment.ack, func(before, after *EnrollmentState) bool {
		return before.Publishers[p].Flying&^after.Publishers[p].Flying == bit(change)
	}, "ack")
}

// end compares what the audit found.
func (r *enrollmentReader) end() {
	var marked, appended uint64
	for _, row := range r.audit.Outbox {
		if row.Published {
			marked |= bit(r.ids[row.ID])
		}
	}
	ends := make(map[int32]int64)
	for _, log := range r.audit.Topic(r.at.Topic) {
		ends[log.Partition] = log.End
		for i := range log.Records {
			if change := r.change(&log.Records[i]); change >= 0 {
				appended |= bit(change)
			}
		}
	}
	if r.first.Log {
		confirmed := r.upTo(r.audit.Slot.Confirmed)
		r.final(fmt.Sprintf("the slot is at change %d", confirmed),
			func(s *EnrollmentState) bool { return s.Confirmed == confirmed })
	} else {
		r.final("marked are "+offsets(marked),
			func(s *EnrollmentState) bool { return s.Marked == marked })
	}
	r.final("the topic has "+offsets(appended),
		func(s *EnrollmentState) bool { return s.Appended == appended })
	for i := range r.audit.Objects {
		o := &r.audit.Objects[i]
		if strings.HasPrefix(o.Key, r.at.Prefix+"/") && len(o.Parts) == 1 &&
			o.Parts[0].Offset == ends[o.Parts[0].Partition] {
			r.folded(o)
		}
	}
}

// folded compares a snapshot of the fold that has read all of its partition.
func (r *enrollmentReader) folded(o *model.Object) {
	for j := range o.Parts[0].Records {
		rec := &o.Parts[0].Records[j]
		change := r.change(rec)
		key := slices.Index(r.keys, rec.Key)
		r.final(fmt.Sprintf("the fold has change %d of %s", change, rec.Key),
			func(s *EnrollmentState) bool {
				return key >= 0 && int(s.Fold[key]) == change+1
			})
	}
}

// final is what the audit says of the state at the end.
func (r *enrollmentReader) final(what string, holds func(s *EnrollmentState) bool) {
	r.seen = append(r.seen, observation[EnrollmentState]{
		seq: int64(r.h.Len()), what: func() string { return "the audit says: " + what },
		who: check.Nobody, holds: holds,
	})
}
