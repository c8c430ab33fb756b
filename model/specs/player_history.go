package specs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// playerSilent are what a player does of which the specification knows nothing. An
// InitProducerID shows by the epoch of what is written next.
var playerSilent = []string{"ApiVersions", "Metadata", "FindCoordinator", "InitProducerID"}

// conformPlayer compares each life of a player.
//
//   - the note of an ask is an ask, that of a send a send, that of an answer tells
//   - the request of a Produce writes, its reply answers
//   - the note of an ack resolves a promise
//   - a crash and an exit end the life, an exit without an error when all is answered
//   - the audit says which attempts must be in the log, and where
func conformPlayer(h *model.History, at Topology) Conformity {
	var all Conformity
	audit := model.Audit(h)
	by := answers(h)
	for _, l := range livesOf(h, at.Proc) {
		r := playerReader{h: h, at: at, life: l, by: by, audit: &audit}
		r.of = fmt.Sprintf("%s life %d", l.proc, l.number)
		if err := r.read(); err != nil {
			all.add(Conformity{Undecided: []string{fmt.Sprintf("player of %s: %v", r.of, err)}})
			continue
		}
		all.add(follow(word[PlayerState]{
			of: r.of, spec: r.spec.spec(), seen: r.seen,
			internal: func(string) bool { return false }, lazy: true,
			show: (*PlayerState).String, class: classOfPlayer, normal: r.spec.slide,
			full: func(s *PlayerState) bool { return s.Sent == maxOffsets },
		}))
	}
	return all
}

// life is one incarnation of a process.
type life struct {
	proc   string
	number int
}

// livesOf returns the lives of a process's replicas, in the order of their starts.
func livesOf(h *model.History, process string) []life {
	var lives []life
	for i := range h.Events() {
		e := &h.Events()[i]
		if name, _, _ := strings.Cut(e.Proc, "/"); e.Kind == model.Start && name == process {
			lives = append(lives, life{e.Proc, e.Life})
		}
	}
	return lives
}

// playerReader reads one life out of a history.
type playerReader struct {
	h     *model.History
	at    Topology
	life  life
	of    string
	by    []*model.Event
	audit *model.Audited

	spec     player
	seen     []observation[PlayerState]
	events   []string               // ids
	batched  map[numbered]int       // attempts by sequence number
	stored   map[model.Position]int // by where they stand, as answers say
	flying   map[int]bool           // attempts of which a good answer is under way
	again    map[int64]bool         // writes meanwhile, by Seq of the request
	producer int64
	fault    error
}

// playerAttempt is a record that the client took.
type playerAttempt struct {
	id, digest string
	event      int
	partition  int32 // -1: nothing tells
	numbered   bool  // it has a sequence number
	dropped    bool  // it has failed without one
}

// numbered is a sequence number of the life's producer.
type numbered struct {
	epoch     int16
	partition int32
	sequence  int32
}

func (r *playerReader) read() error {
	r.spec, r.batched = player{free: true}, make(map[numbered]int)
	r.stored = make(map[model.Position]int)
	r.flying, r.again = make(map[int]bool), make(map[int64]bool)
	r.sends()
	if len(r.events) > maxOffsets {
		return fmt.Errorf("it sends %d events, and a state has room for %d",
			len(r.events), maxOffsets)
	}
	events := r.h.Events()
	for i := range events {
		if e := &events[i]; e.Proc == r.life.proc && e.Life == r.life.number {
			r.event(e)
		}
	}
	if r.fault == nil {
		r.end()
	}
	return r.fault
}

// sends finds the attempts, and in which partition each is: records with one key are
// all in one.
func (r *playerReader) sends() {
	partition := make(map[string]int32)
	for i := range r.h.Events() {
		e := &r.h.Events()[i]
		if e.Op != "Produce" && e.Op != "ack" {
			continue
		}
		for j := range e.Parts {
			for k := range e.Parts[j].Records {
				if p := &e.Parts[j]; p.Topic == r.at.Topic && p.Partition >= 0 {
					partition[p.Records[k].Key] = p.Partition
				}
			}
		}
	}
	r.spec.attempts = []playerAttempt{}
	for i := range r.h.Events() {
		e := &r.h.Events()[i]
		if e.Proc != r.life.proc || e.Life != r.life.number || e.Kind != model.Note {
			continue
		}
		switch e.Op {
		case "ask":
			r.eventOf(record(e).ID)
		case "send":
			rec := record(e)
			p, ok := partition[rec.Key]
			if !ok || p >= maxLanes {
				p = -1
			}
			r.spec.attempts = append(r.spec.attempts, playerAttempt{
				id: rec.ID, digest: rec.Digest, event: r.eventOf(rec.ID), partition: p,
			})
		}
	}
	r.spec.events = len(r.events)
}

// record returns what a note is about.
func record(e *model.Event) *model.Record {
	if len(e.Parts) == 0 || len(e.Parts[0].Records) == 0 {
		return &model.Record{Offset: -1}
	}
	return &e.Parts[0].Records[0]
}

// eventOf returns the number of an event.
func (r *playerReader) eventOf(id string) int {
	if i := slices.Index(r.events, id); i >= 0 {
		return i
	}
	r.events = append(r.events, id)
	return len(r.events) - 1
}

func (r *playerReader) event(e *model.Event) {
	switch {
	case e.Kind == model.Exit && e.Outcome == model.Done:
		r.add(e, 0, player.crash, func(before, _ *PlayerState) bool {
			return before.Open == 0 // it ends when everything is answered
		}, "crash")
	case e.Kind == model.Crash || e.Kind == model.Exit:
		r.add(e, 0, player.crash, nil, "crash")
	case e.Kind == model.Note:
		r.note(e)
	case !e.Kind.Boundary():
	case e.Op == "Produce" && e.Kind == model.Request:
		for i := range e.Parts {
			r.write(e, &e.Parts[i])
		}
	case e.Op == "Produce":
		for i := range e.Parts {
			r.answered(e, &e.Parts[i])
		}
	case !slices.Contains(playerSilent, e.Op):
		r.fault = fmt.Errorf("the specification says nothing of %s", e.Op)
	}
}

// playerPart is a part of the specification: the actions of one kind.
type playerPart func(p player, c *check.Out[PlayerState], s *PlayerState, who int)

// add appends an observation of a step.
//
// house: many parameters because each observation needs them all.
func (r *playerReader) add(
	e *model.Event, who int, part playerPart, fits func(before, after *PlayerState) bool,
	actions ...string,
) *observation[PlayerState] {
	spec := &r.spec
	r.seen = append(r.seen, observation[PlayerState]{
		seq: e.Seq, what: func() string { return eventText(e) }, who: who,
		actions: actions, fits: fits,
		only: func(c *check.Out[PlayerState], s *PlayerState) {
			if !s.Over {
				part(*spec, c, s, who)
			}
		},
	})
	return &r.seen[len(r.seen)-1]
}

func (r *playerReader) note(e *model.Event) {
	event := r.eventOf(record(e).ID)
	switch e.Op {
	case "ask":
		r.add(e, event, player.ask, nil, "ask")
	case "send":
		r.add(e, event, player.send, nil, "send")
	case "ack":
		r.acked(e)
	case "answer":
		r.add(e, event, player.tell, nil, told(e.Outcome))
	}
}

func told(o model.Outcome) string {
	switch o {
	case model.Done:
		return "tell done"
	case model.NotDone:
		return "tell not done"
	}
	return "tell unknown"
}

// never is an observation that nothing fits.
func (r *playerReader) never(e *model.Event, why string) {
	r.seen = append(r.seen, observation[PlayerState]{
		seq: e.Seq, what: func() string { return why + ": " + eventText(e) }, who: check.Nobody,
	})
}

// attempt returns which attempt a record of a Produce is, by its sequence number: they
// are given in the order of the sends, to those that did not fail before.
func (r *playerReader) attempt(e *model.Event, p *model.Part, j int) int {
	at := numbered{e.Epoch, p.Partition, p.Sequence + int32(j)}
	rec := &p.Records[j]
	i, ok := r.batched[at]
	for next := int32(0); !ok && i < len(r.spec.attempts); i++ {
		a := &r.spec.attempts[i]
		if a.partition != p.Partition || a.dropped {
			continue
		}
		if ok = next == at.sequence; ok {
			r.batched[at] = i
			a.numbered = true
			break
		}
		next++
	}
	if !ok || r.spec.attempts[i].id != rec.ID || r.spec.attempts[i].digest != rec.Digest {
		return -1
	}
	return i
}

func (r *playerReader) write(e *model.Event, p *model.Part) {
	if e.Epoch != 0 {
		r.fault = fmt.Errorf("its producer has begun a new epoch")
	}
	r.producer = e.Producer
	x := exchange{e, r.by[e.Seq]}
	res := x.result()
	if x.answer != nil {
		for i := range x.answer.Parts {
			q := &x.answer.Parts[i]
			if q.Topic == p.Topic && q.Partition == p.Partition && q.Err != "" {
				res.did = false
			}
		}
	}
	for j := range p.Records {
		i := r.attempt(e, p, j)
		if i < 0 {
			r.never(e, "no send asked for record "+p.Records[j].ID)
			return
		}
		sequence := int(p.Sequence) + j
		if res.heard && res.did && r.flying[i] {
			r.again[e.Seq] = true
		}
		r.flying[i] = r.flying[i] || res.heard && res.did
		r.add(e, i, player.write, func(before, _ *PlayerState) bool {
			expected, _ := r.spec.numbers(before, i-int(before.Base))
			return sequence == expected
		}, res.took("write")...)
	}
}

// answered reads the reply to a Produce that the client got to see.
func (r *playerReader) answered(e *model.Event, p *model.Part) {
	if !heard(e) || e.Err != "" || p.Err != "" {
		return
	}
	for j := range p.Records {
		i, ok := r.batched[numbered{e.Epoch, p.Partition, p.Sequence + int32(j)}]
		if !ok || !r.stands(p, &p.Records[j]) {
			r.never(e, "the log has no such record there")
			return
		}
		r.stored[model.Position{Partition: p.Partition, Offset: p.Records[j].Offset}] = i
		o := r.add(e, i, player.hear, nil, "answer")
		if r.again[e.Of] {
			o.holds = func(*PlayerState) bool { return true } // it was answered before
		} else {
			r.flying[i] = false
		}
	}
}

// stands reports whether the log has a record where an answer says so. Without an audit
// nothing says otherwise.
func (r *playerReader) stands(p *model.Part, rec *model.Record) bool {
	for _, log := range r.audit.Topic(p.Topic) {
		if log.Partition != p.Partition {
			continue
		}
		if at := rec.Offset - log.Offset; at >= 0 && at < int64(len(log.Records)) {
			return log.Records[at].ID == rec.ID
		}
		return false
	}
	return !r.audit.Ran()
}

// acked reads a promise that is resolved: that of the attempt that stands where the ack
// says, or of one that can still fail.
func (r *playerReader) acked(e *model.Event) {
	rec := record(e)
	if e.Outcome != model.Done {
		if i := r.drop(rec); i >= 0 {
			r.add(e, i, player.fail, nil, "time out")
		} else {
			r.never(e, "no attempt is left that could fail")
		}
		return
	}
	i, ok := r.stored[model.Position{Partition: e.Parts[0].Partition, Offset: rec.Offset}]
	if !ok || r.spec.attempts[i].id != rec.ID {
		r.never(e, "no answer has said so")
		return
	}
	r.add(e, i, player.hear, nil, "ack")
}

// drop takes note that an attempt failed before it got a number: of those with the id
// the first that comes after all that have one. It returns its number, -1 for none.
func (r *playerReader) drop(rec *model.Record) int {
	first, last := -1, make(map[int32]int) // of a partition, that has a number
	for i := range r.spec.attempts {
		if a := &r.spec.attempts[i]; a.numbered {
			last[a.partition] = i + 1
		}
	}
	for i := len(r.spec.attempts) - 1; i >= 0; i-- {
		a := &r.spec.attempts[i]
		if a.id == rec.ID && !a.dropped && i >= last[a.partition] {
			first = i
		}
	}
	if first >= 0 {
		r.spec.attempts[first].dropped = true
	}
	return first
}

// end compares the log. What the life's producer appended stands there in the order of
// its sends.
func (r *playerReader) end() {
	if r.producer == 0 {
		return
	}
	for _, log := range r.audit.Topic(r.at.Topic) {
		in := 0
		for i := range log.Records {
			rec := &log.Records[i]
			if rec.Producer != r.producer {
				continue
			}
			at, ok := r.batched[numbered{0, log.Partition, int32(in)}]
			if !ok || r.spec.attempts[at].id != rec.ID {
				in = -1 << 30
			}
			in++
		}
		r.seen = append(r.seen, observation[PlayerState]{
			seq: r.audit.LogSeq(log.Topic, log.Partition), who: check.Nobody,
			what: func() string { return "the log has other records of it, or in another order" },
			holds: func(s *PlayerState) bool {
				return in == r.appended(s, log.Partition)
			},
		})
	}
}

// appended returns how many attempts a partition has.
func (r *playerReader) appended(s *PlayerState, partition int32) int {
	n := 0
	if partition < maxLanes {
		n = int(s.Gone[partition])
	}
	for i := range int(s.Sent) {
		if s.Appended&bit(i) != 0 && r.spec.attempts[int(s.Base)+i].partition == partition {
			n++
		}
	}
	return n
}
