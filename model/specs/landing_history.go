package specs

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// landingSilent are what a member does of which the specification knows nothing: who
// leads the group and what the client finds out by itself. That the group takes a
// partition away is no event of its own; it may happen whenever something needs it.
var landingSilent = []string{
	"ApiVersions", "Metadata", "FindCoordinator", "ListOffsets", "InitProducerID",
	"ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "Heartbeat", "JoinGroup", "SyncGroup",
	"LeaveGroup", "OffsetForLeaderEpoch", "list",
}

// landingInternal are the steps that no history shows.
func landingInternal(action string) bool {
	return action == "pause" || action == "drop" || action == "give up"
}

// conformLanding compares each partition of the topic.
//
//   - a Fetch reply is a poll (what was fetched may be polled)
//   - the request of an OffsetFetch that was answered assigns the partition
//   - the call of a put or putif stores, its return tells the member
//   - the return of a get is a look, at the time of its call
//   - the request of a Produce of dead letters buries, its reply tells the member
//   - the request of an OffsetCommit commits, its reply tells the member
//   - a crash and an exit end a life
//   - the audit says what must have come of it
func conformLanding(h *model.History, at Topology) Conformity {
	var all Conformity
	audit := model.Audit(h)
	by := answers(h)
	for p := range at.Partitions {
		r := landingReader{h: h, at: at, partition: p, by: by, audit: &audit}
		r.of = at.Topic + "/" + strconv.Itoa(int(p))
		w, err := r.word()
		if err != nil {
			all.add(Conformity{Undecided: []string{fmt.Sprintf("landing of %s: %v", r.of, err)}})
			continue
		}
		all.add(follow(w))
	}
	return all
}

// landingReader reads one partition out of a history.
type landingReader struct {
	h         *model.History
	at        Topology
	partition int32
	of        string
	by        []*model.Event // answers, by the Seq of what they answer
	audit     *model.Audited

	flying map[flight]bool // dead letters whose acks will come
	again  map[int64]bool  // those that were asked for meanwhile, by Seq of the request

	spec  landing
	seen  []observation[LandingState]
	ends  map[string]int // where an object ends, by its digest
	fault error
}

func (r *landingReader) word() (word[LandingState], error) {
	if err := r.log(); err != nil {
		return word[LandingState]{}, err
	}
	r.ends, r.flying, r.again = make(map[string]int), make(map[flight]bool), make(map[int64]bool)
	events := r.h.Events()
	for i := range events {
		r.event(&events[i])
	}
	r.end()
	return word[LandingState]{
		of: r.of, spec: r.spec.spec(), seen: r.seen, internal: landingInternal, lazy: true,
		show: (*LandingState).String, class: classOfLanding,
	}, r.fault
}

// log finds out what the partition holds.
func (r *landingReader) log() error {
	r.spec = landing{block: r.at.Block, members: MaxLandingMembers, free: true}
	var err error
	r.spec.records, r.spec.rejects, err = partitionOf(r.audit, r.at.Topic, r.partition)
	return err
}

// flight is a dead letter on its way.
type flight struct{ member, offset int }

// member returns the number of the member that an event is of; -1 for others.
func (r *landingReader) member(e *model.Event) int {
	n, err := r.at.replica(e, "members", MaxLandingMembers)
	if err != nil {
		r.fault = err
	}
	return n
}

func (r *landingReader) event(e *model.Event) {
	m := r.member(e)
	if m < 0 {
		if e.Op == "OffsetCommit" && e.Group == r.at.Group || e.Op == "put" || e.Op == "putif" ||
			e.Op == "delete" {
			r.fault = fmt.Errorf("somebody else writes: %s", eventText(e))
		}
		return
	}
	switch {
	case e.Kind == model.Crash || e.Kind == model.Exit:
		r.add(e, m, landing.faulty, nil, "crash")
	case e.Kind == model.Stop:
		r.add(e, m, landing.faulty, nil, "stop")
	case !e.Kind.Boundary():
	case e.Op == "Fetch":
		r.fetched(e, m)
	case e.Op == "OffsetFetch":
		r.assigned(e, m)
	case e.Op == "OffsetCommit":
		r.commit(e, m)
	case e.Op == "Produce":
		r.letters(e, m)
	case e.Op == "put" || e.Op == "putif":
		r.put(e, m)
	case e.Op == "get":
		r.look(e, m)
	case !slices.Contains(landingSilent, e.Op):
		r.fault = fmt.Errorf("the specification says nothing of %s", e.Op)
	}
}

// landingPart is a part of the specification: what a member does of one kind.
type landingPart func(l landing, c *check.Out[LandingState], s *LandingState, m int)

// add appends an observation of a step.
//
// house: many parameters because each observation needs them all.
func (r *landingReader) add(
	e *model.Event, m int, part landingPart, fits func(before, after *LandingState) bool,
	actions ...string,
) *observation[LandingState] {
	spec := r.spec
	r.seen = append(r.seen, observation[LandingState]{
		seq: e.Seq, what: func() string { return eventText(e) }, who: m,
		actions: actions, fits: fits,
		only: func(c *check.Out[LandingState], s *LandingState) { part(spec, c, s, m) },
	})
	return &r.seen[len(r.seen)-1]
}

// ask returns what e asks for, with its answer. It is not meant for answers.
func (r *landingReader) ask(e *model.Event) exchange { return exchange{e, r.by[e.Seq]} }

// heard reports whether e is an answer that its process got to see.
func heard(e *model.Event) bool {
	return (e.Kind == model.Reply || e.Kind == model.Return) && e.Outcome != model.Unknown
}

// part returns what an event says of the partition, nil for nothing.
func (r *landingReader) part(e *model.Event) *model.Part {
	if e == nil {
		return nil
	}
	for i := range e.Parts {
		if p := &e.Parts[i]; p.Topic == r.at.Topic && p.Partition == r.partition {
			return p
		}
	}
	return nil
}

// fetched says what may be polled. What comes for an assignment that is over, or a
// second time, tells nothing.
func (r *landingReader) fetched(e *model.Event, m int) {
	p := r.part(e)
	if !heard(e) || p == nil || p.Err != "" || len(p.Records) == 0 {
		return
	}
	first := p.Records[0].Offset
	end := uint8(p.Records[len(p.Records)-1].Offset + 1)
	o := r.add(e, m, landing.poll, func(before, after *LandingState) bool {
		return first <= int64(before.Members[m].Next) && after.Members[m].Next == end
	}, "poll")
	o.holds = func(s *LandingState) bool {
		me := &s.Members[m]
		return !me.Has || end <= me.Next || first > int64(me.Next)
	}
}

func (r *landingReader) assigned(e *model.Event, m int) {
	if e.Kind != model.Request {
		return
	}
	x := r.ask(e)
	p := r.part(x.answer)
	if !x.heard() || p == nil || p.Err != "" || x.answer.Err != "" {
		return
	}
	offset := uint8(max(0, p.Offset))
	r.add(e, m, landing.group, func(_, after *LandingState) bool {
		return after.Members[m].Next == offset
	}, "assign")
}

func (r *landingReader) commit(e *model.Event, m int) {
	p := r.part(e)
	if p == nil {
		return
	}
	offset := uint8(p.Offset)
	if e.Kind == model.Reply {
		if heard(e) && e.Err == "" && p.Err == "" {
			o := r.add(e, m, landing.hear, func(before, _ *LandingState) bool {
				return before.Members[m].At == offset
			}, "commit answered")
			o.holds = stopping(m)
		}
		return
	}
	x := r.ask(e)
	res := x.result()
	if q := r.part(x.answer); q != nil && q.Err != "" {
		res.did = false
	}
	r.add(e, m, landing.commit, func(before, after *LandingState) bool {
		return after.Members[m].Asked == offset &&
			(after.Commit == offset || after.Commit == before.Commit)
	}, res.took("commit", "commit refused")...)
}

func (r *landingReader) letters(e *model.Event, m int) {
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Topic != r.at.DLQ {
			continue
		}
		for j := range p.Records {
			from := p.Records[j].From
			if from.Topic == r.at.Topic && from.Partition == r.partition {
				r.letter(e, i, m, int(from.Offset))
			}
		}
	}
}

// letter reads a dead letter in part i of a Produce.
func (r *landingReader) letter(e *model.Event, i, m, offset int) {
	letter := bit(offset)
	if e.Kind == model.Reply {
		r.lettered(e, i, m, offset)
		return
	}
	x := r.ask(e)
	res := x.result()
	res.did = res.did && (x.answer == nil || x.answer.Parts[i].Err == "")
	if res.known && !res.did {
		return // nothing happened, and the client sends it again
	}
	o := r.add(e, m, landing.bury, func(before, after *LandingState) bool {
		letters := after.Members[m].Letters &^ before.Members[m].Letters
		return after.Dead == before.Dead|letter && (letters == letter || letters == 0)
	}, res.took("bury")...)
	if !res.known {
		o.holds = func(*LandingState) bool { return true }
	}
	if res.heard {
		if r.flying[flight{m, offset}] {
			r.again[e.Seq] = true
			o.holds = func(s *LandingState) bool { return s.Dead&letter != 0 }
		}
		r.flying[flight{m, offset}] = true
	}
}

// lettered reads the ack of a dead letter. Of two at once the state knows one.
func (r *landingReader) lettered(e *model.Event, i, m, offset int) {
	if !heard(e) || e.Err != "" || e.Parts[i].Err != "" {
		return
	}
	letter := bit(offset)
	o := r.add(e, m, landing.hear, func(before, after *LandingState) bool {
		return (before.Members[m].Letters^after.Members[m].Letters)&letter != 0
	}, "letter answered")
	if r.again[e.Of] {
		o.holds = func(*LandingState) bool { return true }
	} else {
		delete(r.flying, flight{m, offset})
	}
}

// object returns which offsets a put is about. The name must be that of the first.
func (r *landingReader) object(e *model.Event) (first, end int, ok bool) {
	rest, ok := strings.CutPrefix(e.Key, r.of+"/")
	p := r.part(e)
	if !ok || p == nil || len(p.Records) == 0 {
		return 0, 0, ok
	}
	first, end = int(p.Records[0].Offset), int(p.Records[len(p.Records)-1].Offset)+1
	if n, err := strconv.Atoi(rest); err != nil || n != first {
		end = 0
	}
	return first, end, true
}

func (r *landingReader) put(e *model.Event, m int) {
	first, end, ok := r.object(e)
	if !ok {
		return
	}
	if e.Kind == model.Return {
		if heard(e) && e.Err == "" {
			o := r.add(e, m, landing.hear, func(before, _ *LandingState) bool {
				return int(before.Members[m].At) == end
			}, "put answered")
			o.holds = stopping(m)
		}
		return
	}
	r.ends[e.Digest] = end
	x := r.ask(e)
	res := x.result()
	object := below(end) &^ below(first)
	actions := res.took("put", "put refused")
	part := landing.put
	if !res.heard {
		actions = append(actions, "late put")
		part = landing.puts
	}
	o := r.add(e, m, part, func(before, after *LandingState) bool {
		me := &before.Members[m]
		if me.Waits == forNothing && after.Members[m].Waits == forPut {
			return int(after.Members[m].At) == end && r.first(me) == first
		}
		stored := after.Stored == before.Stored
		return stored && r.first(me) == first || after.Stored&object == object &&
			after.Stored == before.Stored|object
	}, actions...)
	if !res.did && !res.heard {
		// It changed nothing, and nobody knows: all it needs is to have been possible.
		o.holds = func(s *LandingState) bool { return end > 0 && end <= int(s.Members[m].High) }
	}
}

// puts are puts that anybody may have forgotten.
func (l landing) puts(c *check.Out[LandingState], s *LandingState, m int) {
	l.put(c, s, m)
	l.late(c, s, m)
}

// stopping says that a member was asked to end, so that an answer may be lost on it.
func stopping(m int) func(s *LandingState) bool {
	return func(s *LandingState) bool { return s.Members[m].Stopping }
}

// first returns where the object begins that a member would put next.
func (r *landingReader) first(m *LandingMember) int {
	if r.spec.block > 0 {
		start, _ := r.spec.blockOf(m.done())
		return start
	}
	return bits.TrailingZeros64(r.spec.good() &^ m.Settled)
}

// look reads the object of a block. It says where that ends.
func (r *landingReader) look(e *model.Event, m int) {
	if e.Kind != model.Call || !strings.HasPrefix(e.Key, r.of+"/") {
		return
	}
	x := r.ask(e)
	if !x.heard() {
		return
	}
	end, ok := r.ends[x.answer.Digest]
	r.add(e, m, landing.put, func(_, after *LandingState) bool {
		return !ok || int(after.Members[m].Held) == end
	}, "look")
}

// end compares what the audit found.
func (r *landingReader) end() {
	if offset, ok := r.audit.Committed(r.at.Group, r.at.Topic, r.partition); ok {
		r.final("the group's offset is "+strconv.FormatInt(offset, 10),
			func(s *LandingState) bool { return int64(s.Commit) == max(0, offset) })
	}
	var stored, dead uint64
	for i := range r.audit.Objects {
		for j := range r.audit.Objects[i].Parts {
			p := &r.audit.Objects[i].Parts[j]
			if p.Topic != r.at.Topic || p.Partition != r.partition {
				continue
			}
			for k := range p.Records {
				stored |= bit(int(p.Records[k].Offset))
			}
		}
	}
	for _, log := range r.audit.Topic(r.at.DLQ) {
		for i := range log.Records {
			if from := log.Records[i].From; from.Topic == r.at.Topic &&
				from.Partition == r.partition {
				dead |= bit(int(from.Offset))
			}
		}
	}
	r.final("objects hold "+offsets(stored),
		func(s *LandingState) bool { return s.Stored == stored })
	r.final("dead letters hold "+offsets(dead),
		func(s *LandingState) bool { return s.Dead == dead })
}

// final is what the audit says of the state at the end.
func (r *landingReader) final(what string, holds func(s *LandingState) bool) {
	r.seen = append(r.seen, observation[LandingState]{
		seq: int64(r.h.Len()), what: func() string { return "the audit says: " + what },
		who: check.Nobody, holds: holds,
	})
}
