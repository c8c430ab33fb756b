package specs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// validatedSilent are what a member does of which the specification knows nothing: who
// leads the group and what the client finds out by itself. That the group takes a
// partition away is no event of its own; it may happen whenever something needs it.
var validatedSilent = []string{
	"ApiVersions", "Metadata", "FindCoordinator", "ListOffsets", "ConsumerGroupHeartbeat",
	"ConsumerGroupDescribe", "Heartbeat", "JoinGroup", "SyncGroup", "LeaveGroup",
	"OffsetForLeaderEpoch",
}

// conformValidated compares each partition of the topic.
//
//   - the request of an OffsetFetch that was answered asks for the position
//   - the first Produce or TxnOffsetCommit of a transaction is a poll of what the
//     transaction is about, if that was fetched
//   - the request of an InitProducerID ends what is open, and gives an epoch
//   - the request of a Produce appends outputs, its reply tells the member
//   - the request of a TxnOffsetCommit makes the offset pending, its reply tells
//   - the request of an EndTxn commits or aborts, its reply tells
//   - a crash and an exit end a life
//   - the audit says what must have come of it
//
// What was refused changes nothing, and is allowed anywhere.
func conformValidated(h *model.History, at Topology) Conformity {
	var all Conformity
	audit := model.Audit(h)
	by := answers(h)
	for p := range at.Partitions {
		r := validatedReader{h: h, at: at, partition: p, by: by, audit: &audit}
		r.of = at.Topic + "/" + strconv.Itoa(int(p))
		w, err := r.word()
		if err != nil {
			all.add(Conformity{Undecided: []string{
				fmt.Sprintf("validated of %s: %v", r.of, err)}})
			continue
		}
		all.add(follow(w))
	}
	return all
}

func (r *validatedReader) word() (word[ValidatedState], error) {
	if err := r.log(); err != nil {
		return word[ValidatedState]{}, err
	}
	r.lookAhead()
	r.spec.shared = r.ids[0] != "" && r.ids[0] == r.ids[1]
	events := r.h.Events()
	for i := range events {
		r.event(&events[i])
	}
	r.end()
	return word[ValidatedState]{
		of: r.of, spec: r.spec.spec(), seen: r.seen,
		internal: validatedInternal, inside: r.spec.inside, lazy: true,
		show: (*ValidatedState).String, class: classOfValidated,
	}, r.fault
}

func (r *validatedReader) event(e *model.Event) {
	m := r.member(e)
	if m < 0 {
		if e.Op == "OffsetCommit" && e.Group == r.at.Group {
			r.fault = fmt.Errorf("somebody else writes: %s", eventText(e))
		}
		return
	}
	switch {
	case e.Kind == model.Start:
		r.alive[m] = true
	case e.Kind == model.Reply && !heard(e): // nobody was told
	case !r.alive[m] || e.Kind == model.Reply && r.heard[e.Of]:
		r.never(e, m)
	case e.Kind == model.Crash || e.Kind == model.Exit:
		r.fetched[m], r.alive[m], r.begun[m] = 0, false, false
		r.add(e, m, (*validated).faulty, nil, "crash")
	case !e.Kind.Boundary():
	case e.Op == "Fetch":
		r.fetch(e, m)
	case e.Op == "OffsetFetch":
		r.position(e, m)
	case e.Op == "InitProducerID":
		r.init(e, m)
	case e.Op == "Produce":
		r.begun[m] = r.begun[m] || e.Kind == model.Request
		r.produce(e, m)
	case e.Op == "TxnOffsetCommit":
		r.begun[m] = r.begun[m] || e.Kind == model.Request
		r.offsets(e, m)
	case e.Op == "EndTxn":
		r.ended(e, m)
	case e.Op == "OffsetCommit":
		if e.Kind == model.Request && r.part(e) != nil {
			r.never(e, m)
		}
	case !slices.Contains(validatedSilent, e.Op):
		r.fault = fmt.Errorf("the specification says nothing of %s", e.Op)
	}
	if e.Kind == model.Reply {
		r.heard[e.Of] = true
	}
}

// never is an event that no behaviour has.
func (r *validatedReader) never(e *model.Event, m int) *observation[ValidatedState] {
	return r.add(e, m, (*validated).faulty, nil)
}

// validatedPart is a part of the specification: what a member does of one kind.
type validatedPart func(
	d *validated, c *check.Out[ValidatedState], s *ValidatedState, m int,
)

// add appends an observation of a step.
//
// house: many parameters because each observation needs them all.
func (r *validatedReader) add(
	e *model.Event, m int, part validatedPart, fits func(before, after *ValidatedState) bool,
	actions ...string,
) *observation[ValidatedState] {
	r.seen = append(r.seen, observation[ValidatedState]{
		seq: e.Seq, what: func() string { return eventText(e) }, who: m,
		actions: actions, fits: fits,
		only: func(c *check.Out[ValidatedState], s *ValidatedState) { part(&r.spec, c, s, m) },
	})
	return &r.seen[len(r.seen)-1]
}

// fetch says what may be polled.
func (r *validatedReader) fetch(e *model.Event, m int) {
	p := r.part(e)
	if heard(e) && p != nil && p.Err == "" && len(p.Records) > 0 {
		end := uint8(p.Records[len(p.Records)-1].Offset + 1)
		r.fetched[m] = max(r.fetched[m], end)
	}
}

// poll is the poll that began the batch that e is about, if it has begun with e.
func (r *validatedReader) poll(
	e *model.Event, m int, end uint8,
) *observation[ValidatedState] {
	if end > r.fetched[m] {
		return r.never(e, m) // nobody polls what was not fetched
	}
	o := r.add(e, m, (*validated).poll, func(_, after *ValidatedState) bool {
		return after.Members[m].Next == end
	}, "poll")
	o.holds = func(s *ValidatedState) bool {
		me := &s.Members[m]
		return me.Stage >= working && me.Stage <= ending && me.Next == end
	}
	return o
}

func (r *validatedReader) position(e *model.Event, m int) {
	if e.Kind != model.Request {
		return
	}
	offset, ok := r.told(e)
	switch {
	case !ok:
	case r.idle[e.Seq]:
		r.add(e, m, (*validated).askAnyTime, nil).holds = func(s *ValidatedState) bool {
			return s.Commit == offset && r.spec.stable(s)
		}
	default:
		r.add(e, m, (*validated).askAnyTime, func(_, after *ValidatedState) bool {
			return after.Commit == offset
		}, "ask", "assign")
	}
}

func (r *validatedReader) init(e *model.Event, m int) {
	if e.Kind != model.Request {
		return
	}
	res := r.ask(e).result()
	switch {
	case res.known && !res.did:
	case res.heard:
		r.add(e, m, (*validated).initAnyTime, nil, "init")
	default:
		o := r.add(e, m, (*validated).initAnyTime, nil, "init, answer lost")
		if !res.known {
			o.holds = func(*ValidatedState) bool { return true }
		}
	}
}

func (r *validatedReader) produce(e *model.Event, m int) {
	part, inputs := r.outputs(e)
	if inputs == 0 {
		return
	}
	end := after(inputs)
	if e.Kind == model.Reply {
		if heard(e) && e.Err == "" && part.Err == "" {
			o := r.add(e, m, (*validated).hear, func(before, _ *ValidatedState) bool {
				return before.Members[m].Sent == end
			}, "produce answered")
			o.holds = func(s *ValidatedState) bool {
				return s.Members[m].Stage != working || s.Members[m].Sent < end
			}
		}
		return
	}
	x := r.ask(e)
	res := x.result()
	if p, _ := r.outputsOf(x.answer); p != nil && p.Err != "" {
		res.did = false
	}
	if res.known && !res.did {
		return
	}
	o := r.poll(e, m, r.ends[e.Seq])
	r.unknown(o, res)
	actions := res.happened("produce", "produce again")
	if polled := o.holds; r.doomed[e.Seq] && polled != nil {
		actions = append(actions, "produce in vain")
		o.holds = func(s *ValidatedState) bool { return polled(s) || inVainOf(s, m) }
	}
	r.unknown(r.add(e, m, (*validated).produceAnyTime, func(before, after *ValidatedState) bool {
		me := &before.Members[m]
		return inVainOf(before, m) || after.Members[m].Sent == end && (me.Sent == end ||
			r.spec.accepted(me.Sent, end) == inputs)
	}, actions...), res)
}

// unknown lets o have done nothing if nobody knows whether it has.
func (r *validatedReader) unknown(o *observation[ValidatedState], res result) {
	if !res.known {
		o.holds = func(*ValidatedState) bool { return true }
	}
}

// happened returns the actions that an ask can be that took effect, now or as a repetition.
func (r result) happened(action, again string) []string {
	if r.heard {
		return []string{action, again}
	}
	return []string{action + ", answer lost", again + ", answer lost"}
}

func (r *validatedReader) offsets(e *model.Event, m int) {
	p := r.part(e)
	if p == nil {
		return
	}
	offset := uint8(p.Offset)
	if e.Kind == model.Reply {
		if heard(e) && e.Err == "" && p.Err == "" {
			o := r.add(e, m, (*validated).hear, func(before, _ *ValidatedState) bool {
				return before.Members[m].Next == offset
			}, "offsets answered")
			o.holds = func(s *ValidatedState) bool { return s.Members[m].Stage != offered }
		}
		return
	}
	x := r.ask(e)
	res := x.result()
	if q := r.part(x.answer); q != nil && q.Err != "" {
		res.did = false
	}
	if res.known && !res.did {
		return
	}
	// A member that has asked for its position may say it once more in a transaction in
	// which nothing of the partition is.
	again := func(s *ValidatedState) bool {
		me := &s.Members[m]
		return me.Stage == ready && me.Next == offset && s.Commit == offset
	}
	poll := r.poll(e, m, offset)
	poll.orHolds(again)
	r.unknown(poll, res)
	action := "offsets"
	if !res.heard {
		action = "offsets, answer lost"
	}
	offer := r.add(e, m, (*validated).offer, func(_, after *ValidatedState) bool {
		return after.Ids[r.spec.id(m)].Pending == offset
	}, action)
	offer.orHolds(again)
	r.unknown(offer, res)
}

// ended reads an EndTxn. It may be that of a transaction in which the partition has no
// part.
func (r *validatedReader) ended(e *model.Event, m int) {
	commits := e.Note == "commit"
	if e.Kind == model.Reply {
		if commits && heard(e) && e.Err == "" {
			o := r.add(e, m, (*validated).hear, nil, "commit answered")
			o.holds = func(s *ValidatedState) bool { return s.Members[m].Stage != ending }
		}
		return
	}
	res := r.ask(e).result()
	if res.known && !res.did {
		return
	}
	if commits && !r.begun[m] {
		r.never(e, m) // who has heard that it is over does not commit it again
		return
	}
	r.begun[m] = !res.heard
	if !commits {
		o := r.add(e, m, (*validated).abortAnyTime, nil, "abort")
		o.holds = func(s *ValidatedState) bool {
			return !res.known || s.Ids[r.spec.id(m)].Phase != ongoing
		}
		return
	}
	o := r.add(e, m, (*validated).commitAnyTime, nil, res.happened("commit", "commit again")...)
	o.holds = func(s *ValidatedState) bool {
		me := &s.Members[m]
		return !res.known || me.Stage <= ready || me.Stage == asking ||
			me.Stage == failed && s.Ids[r.spec.id(m)].Phase != ongoing
	}
}

// end compares what the audit found.
func (r *validatedReader) end() {
	if offset, ok := r.audit.Committed(r.at.Group, r.at.Topic, r.partition); ok {
		r.final("the group's offset is "+strconv.FormatInt(offset, 10),
			func(s *ValidatedState) bool { return int64(s.Commit) == max(0, offset) })
	}
	// Above the last stable offset nobody can see what is committed.
	var stable, twice, all uint64
	for _, log := range r.audit.Topic(r.at.Out) {
		for i := range log.Records {
			rec := &log.Records[i]
			if rec.Kind != model.Data || rec.From.Topic != r.at.Topic ||
				rec.From.Partition != r.partition {
				continue
			}
			input := bit(int(rec.From.Offset))
			if rec.Offset < log.Stable {
				twice |= stable & input
				stable |= input
			}
			all |= input
		}
	}
	r.final("the output holds those of "+offsets(stable), func(s *ValidatedState) bool {
		output := r.spec.accepted(0, s.Output)
		return twice == 0 && stable&^output == 0 && output&^all == 0
	})
}

// final is what the audit says of the state at the end.
func (r *validatedReader) final(what string, holds func(s *ValidatedState) bool) {
	r.seen = append(r.seen, observation[ValidatedState]{
		seq: int64(r.h.Len()), what: func() string { return "the audit says: " + what },
		who: check.Nobody, holds: holds,
	})
}
