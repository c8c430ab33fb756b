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

// The folders of a tile, below its prefix.
const (
	tileOffsetsLog = "/checkpoint/offsets/"
	tileCommitsLog = "/checkpoint/commits/"
	tileSinkLog    = "/_spark_metadata/"
)

// tileSilent are what a run does of which the specification knows nothing: reading the
// topic, and reading back what it finds in a list or in the place of its put.
var tileSilent = []string{
	"ApiVersions", "Metadata", "ListOffsets", "Fetch", "OffsetForLeaderEpoch", "get",
}

// tileInternal are the steps that no history shows.
func tileInternal(action string) bool { return action == "decide" || action == "look again" }

// conformTile compares a tile, whose offsets are those of all partitions in a row.
//
//   - a page of a list of one of the three logs reads it
//   - the call of a putif of checkpoint/offsets/N plans, of _spark_metadata/N logs, of
//     checkpoint/commits/N commits
//   - the call of a put of a part stores it, that of a delete removes
//   - the return of each of them tells the run
//   - a crash and an exit end a life
//   - the audit says what must have come of it
//
// What a plan says of each partition, and which parts an entry of the sink log names,
// is compared where the event is read.
func conformTile(h *model.History, at Topology) Conformity {
	audit := model.Audit(h)
	r := tileReader{
		h: h, at: at, by: answers(h), audit: &audit,
		spec:  tile{compact: at.Compact, runs: MaxTileRuns, free: true},
		parts: make(map[string]tilePart), plans: map[int]string{},
		names: make(map[int][]string), guessed: make(map[int]bool), writes: make(map[string]int),
	}
	r.spec.works = [3]tileWork{partsWork, sinkWork, commitWork}
	w, err := r.word()
	if err != nil {
		return Conformity{Undecided: []string{fmt.Sprintf("tile of %s: %v", at.Prefix, err)}}
	}
	return follow(w)
}

// tileReader reads a tile out of a history.
type tileReader struct {
	h     *model.History
	at    Topology
	by    []*model.Event // answers, by the Seq of what they answer
	audit *model.Audited

	spec    tile
	seen    []observation[TileState]
	parts   map[string]tilePart // by key
	plans   map[int]string      // what is planned up to an offset, partition by partition
	names   map[int][]string    // the parts that the sink log has named, by batch
	guessed map[int]bool        // of names, that nobody knows whether it is there
	lists   [MaxTileRuns]string // what each run lists, while it looks around
	listed  [MaxTileRuns]int    // how often that had been written to, at its last page
	writes  map[string]int      // how often each log was written to
	fault   error
}

// tilePart is a part that was stored: by which life of which run, and how many events
// it counts.
type tilePart struct {
	run, life int
	events    int64
}

func (r *tileReader) word() (word[TileState], error) {
	for _, log := range r.audit.Topic(r.at.Topic) {
		if r.spec.records += int(log.End); log.Offset != 0 {
			return word[TileState]{}, fmt.Errorf("%s/%d begins at %d", log.Topic, log.Partition,
				log.Offset)
		}
	}
	if r.spec.records > maxOffsets {
		return word[TileState]{}, fmt.Errorf("it has %d offsets, and a state has room for %d",
			r.spec.records, maxOffsets)
	}
	if r.spec.compact < 1 {
		return word[TileState]{}, fmt.Errorf("nobody says after how many batches it is compacted")
	}
	events := r.h.Events()
	for i := range events {
		r.event(&events[i])
	}
	r.end()
	return word[TileState]{
		of: r.at.Prefix, spec: r.spec.spec(), seen: r.seen, internal: tileInternal, lazy: true,
		show: (*TileState).String, class: classOfTile,
	}, r.fault
}

// run returns the number of the run that an event is of; -1 for others.
func (r *tileReader) run(e *model.Event) int {
	n, err := r.at.replica(e, "runs", MaxTileRuns)
	if err != nil {
		r.fault = err
	}
	return n
}

func (r *tileReader) event(e *model.Event) {
	run := r.run(e)
	name, ours := strings.CutPrefix(e.Key, r.at.Prefix)
	if run < 0 {
		if ours && e.Kind == model.Call && e.Op != "get" && e.Op != "list" {
			r.fault = fmt.Errorf("somebody else writes: %s", eventText(e))
		}
		return
	}
	switch {
	case e.Kind == model.Crash || e.Kind == model.Exit:
		r.lists[run] = ""
		r.add(e, run, tile.crash, nil, "crash")
	case e.Kind == model.Return && ours && name != "/checkpoint/metadata":
		r.answer(e, run)
	case e.Kind != model.Call && e.Kind != model.Request:
	case e.Op == "list" && ours:
		r.list(e, run, name)
	case name == "/checkpoint/metadata" || slices.Contains(tileSilent, e.Op):
	case !ours:
		r.fault = fmt.Errorf("the specification says nothing of %s", eventText(e))
	case e.Op == "put" || e.Op == "putif" || e.Op == "delete":
		r.lists[run] = ""
		r.writes[name[:strings.LastIndexByte(name, '/')+1]]++
		r.write(e, run, name)
	default:
		r.fault = fmt.Errorf("the specification says nothing of %s", e.Op)
	}
}

// tileDoes is a part of the specification: what a run does of one kind.
type tileDoes func(t tile, c *check.Out[TileState], s *TileState, r int)

// add appends an observation of a step.
//
// house: many parameters because each observation needs them all.
func (r *tileReader) add(
	e *model.Event, run int, does tileDoes, fits func(before, after *TileState) bool,
	actions ...string,
) *observation[TileState] {
	spec := &r.spec
	r.seen = append(r.seen, observation[TileState]{
		seq: e.Seq, what: func() string { return eventText(e) }, who: run,
		actions: actions, fits: fits,
		only: func(c *check.Out[TileState], s *TileState) { does(*spec, c, s, run) },
	})
	return &r.seen[len(r.seen)-1]
}

// list reads a page of a log, or what is left of it. Where the log grows meanwhile, the
// page may have the news or not.
func (r *tileReader) list(e *model.Event, run int, name string) {
	x := exchange{e, r.by[e.Seq]}
	actions := map[string]struct {
		action string
		step   tileStep
	}{
		tileCommitsLog: {"list commits", tileReadsCommits},
		tileSinkLog:    {"list sink log", tileReadsSink},
		tileOffsetsLog: {"list offsets", tileReadsOffsets},
	}
	reads, ok := actions[name]
	if !ok || !x.heard() || x.answer.Err != "" || name != tileCommitsLog && r.lists[run] == "" {
		return // also of who compacts: that is seen by what comes of it
	}
	more := r.lists[run] == name
	if more && r.listed[run] == r.writes[name] {
		return // one more page of the same
	}
	o := r.add(e, run, tile.look, nil, reads.action)
	if more {
		o.holds = func(s *TileState) bool { return s.Runs[run].Step == reads.step }
	}
	r.lists[run], r.listed[run] = name, r.writes[name]
}

// write reads a put or a delete.
func (r *tileReader) write(e *model.Event, run int, name string) {
	if number, ok := strings.CutPrefix(name, tileOffsetsLog); ok {
		r.plan(e, run, number)
	} else if number, ok := strings.CutPrefix(name, tileCommitsLog); ok {
		batch := r.batch(number)
		o := r.add(e, run, tile.commit, func(before, _ *TileState) bool {
			return int(before.Runs[run].Batch) == batch
		}, r.took(e, "commit", "commit refused")...)
		r.late(o, e, batch, tile.commit, func(before, after *TileState) bool {
			return int(before.Committed) == batch && int(after.Committed) == batch+1
		})
	} else if number, ok := strings.CutPrefix(name, tileSinkLog); ok {
		if e.Op == "delete" {
			r.remove(e, run, number)
		} else {
			r.log(e, run, number)
		}
	} else if strings.HasPrefix(name, "/part-") && e.Op == "put" {
		r.part(e, run)
	} else {
		r.fault = fmt.Errorf("the specification says nothing of %s", eventText(e))
	}
}

// answer reads what a run hears of a put or a delete. Who hears that a log has another's
// entry stops.
func (r *tileReader) answer(e *model.Event, run int) {
	if !heard(e) || e.Op != "put" && e.Op != "putif" && e.Op != "delete" ||
		e.Err != "" && e.Err != "precondition" {
		return
	}
	o := r.add(e, run, tile.hear, nil, "answered")
	if e.Err != "" {
		o.holds = func(s *TileState) bool { return s.Runs[run].Step == tileDown }
	}
}

// batch returns the number of a batch, -1 for something else.
func (r *tileReader) batch(number string) int {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// took returns the actions that a put can be which the store refuses where something is.
func (r *tileReader) took(e *model.Event, action, refused string) []string {
	x := exchange{e, r.by[e.Seq]}
	if x.heard() && x.answer.Err == "precondition" {
		return []string{refused}
	}
	return x.result().took(action)
}

// late lets an observation be a call that its run has long given up, of a batch that it
// may have had in hand: then it does what it does all the same, if the store takes it.
// Did says whether that is what happened between two states. A run that has yet to
// decide does so first: steps that no history shows wait until something needs them.
//
// house: many parameters because it is an observation of two steps.
func (r *tileReader) late(
	o *observation[TileState], e *model.Event, batch int, does tileDoes,
	did func(before, after *TileState) bool,
) {
	x := exchange{e, r.by[e.Seq]}
	if x.heard() {
		return
	}
	res := x.result()
	if !res.did || !res.known {
		o.holds = func(s *TileState) bool {
			return batch <= s.planned() && s.Runs[o.who].Step != tileReadsOffsets
		}
	}
	if res.known && !res.did {
		return
	}
	spec, run, fits := &r.spec, o.who, o.fits // of the step in its turn
	o.actions = append(o.actions, "late put", "late remove")
	o.only = func(c *check.Out[TileState], s *TileState) {
		does(*spec, c, s, run)
		spec.late(c, s, run)
	}
	o.fits = func(before, after *TileState) bool {
		if before.Runs[run] != after.Runs[run] {
			return fits(before, after)
		}
		return before.Runs[run].Step != tileReadsOffsets && did(before, after)
	}
}

// ranges returns where a plan begins and ends, over all partitions, and partition by
// partition.
func (r *tileReader) ranges(e *model.Event) (start, end int, starts, ends string) {
	for i := range e.Parts {
		p := &e.Parts[i]
		start, end = start+int(p.Offset), end+int(p.End)
		if p.Offset != 0 {
			starts += fmt.Sprintf(" %d@%d", p.Partition, p.Offset)
		}
		if p.End != 0 {
			ends += fmt.Sprintf(" %d@%d", p.Partition, p.End)
		}
	}
	return start, end, starts, ends
}

func (r *tileReader) plan(e *model.Event, run int, number string) {
	batch := r.batch(number)
	start, end, starts, ends := r.ranges(e)
	touches := r.plans[start] == starts
	actions := r.took(e, "plan", "plan refused")
	if !slices.Contains(actions, "plan refused") && !slices.Equal(actions, []string{"plan fails"}) {
		r.plans[end] = ends
	}
	o := r.add(e, run, tile.plan, func(before, after *TileState) bool {
		me := &before.Runs[run]
		news := after.Ends &^ before.Ends
		return touches && int(me.Batch) == batch && int(me.End) == start &&
			(news == 0 || news == bit(end-1))
	}, actions...)
	r.late(o, e, batch, tile.plan, func(before, after *TileState) bool {
		return touches && before.planned() == batch && after.Ends&^before.Ends == bit(end-1) &&
			before.end(batch) == start
	})
}

func (r *tileReader) part(e *model.Event, run int) {
	var events int64
	for _, c := range e.Counts {
		if !strings.HasPrefix(c.Of, "distinct ") {
			events += c.N
		}
	}
	actions := (exchange{e, r.by[e.Seq]}).result().took("store parts")
	_, again := r.parts[e.Key]
	if !slices.Equal(actions, []string{"store parts fails"}) {
		r.parts[e.Key] = tilePart{run, e.Life, events}
	}
	name := e.Key[strings.LastIndexByte(e.Key, '/')+1:]
	o := r.add(e, run, tile.store, func(before, _ *TileState) bool {
		return !again || before.Runs[run].Done == 0
	}, actions...)
	if !strings.HasPrefix(name, "part-00000-") { // one more of the same batch
		o.holds = func(s *TileState) bool {
			return s.Runs[run].Step == tileWrites && s.Runs[run].Done == 1
		}
	}
	if again && !(exchange{e, r.by[e.Seq]}).heard() { // late: it is there, as it was
		o.holds = func(*TileState) bool { return true }
	}
}

// log reads an entry of the sink log: it names parts that this life has stored, which
// count as many events as the batch has offsets, and nothing that was named before but
// in a compact file, which names all of that.
func (r *tileReader) log(e *model.Event, run int, number string) {
	number, compact := strings.CutSuffix(number, ".compact")
	batch := r.batch(number)
	before := make(map[string]bool)
	for b := range batch {
		for _, key := range r.names[b] {
			before[key] = true
		}
	}
	whole := batch >= 0 && compact == r.spec.compacts(uint8(batch))
	var own []string
	var events int64
	old := 0
	for _, c := range e.Counts {
		if before[c.Of] {
			old++
			continue
		}
		part, ok := r.parts[c.Of]
		whole = whole && ok && part.run == run && part.life == e.Life
		own, events = append(own, c.Of), events+part.events
	}
	whole = whole && len(own) > 0 && (compact && old == len(before) || !compact && old == 0)
	actions := r.took(e, "log", "log refused")
	if slices.Contains(actions, "log") || slices.Contains(actions, "log, answer lost") {
		r.name(batch, own, len(actions) == 1)
	}
	o := r.add(e, run, tile.log, func(before, _ *TileState) bool {
		me := &before.Runs[run]
		return whole && int(me.Batch) == batch &&
			bits.OnesCount64(before.offsets(batch)) == int(events)
	}, actions...)
	r.late(o, e, batch, tile.log, func(before, after *TileState) bool {
		named := (after.Entries | after.Compacts) &^ (before.Entries | before.Compacts)
		return whole && named == bit(batch) &&
			bits.OnesCount64(before.offsets(batch)) == int(events)
	})
}

// name remembers what an entry of the sink log names. The first that is known to be
// there counts: one that comes when it was compacted and removed is not read.
func (r *tileReader) name(batch int, own []string, known bool) {
	if _, ok := r.names[batch]; !ok || known && r.guessed[batch] {
		r.names[batch], r.guessed[batch] = own, !known
	}
}

func (r *tileReader) remove(e *model.Event, run int, number string) {
	number, compact := strings.CutSuffix(number, ".compact")
	batch := r.batch(number)
	actions := (exchange{e, r.by[e.Seq]}).result().took("remove")
	o := r.add(e, run, tile.clean, func(_, after *TileState) bool {
		return int(after.Runs[run].At) == batch+1 && compact == r.spec.compacts(uint8(batch))
	}, actions...)
	r.late(o, e, batch, tile.clean, func(before, after *TileState) bool {
		return (before.Entries|before.Compacts)&^(after.Entries|after.Compacts) == bit(batch)
	})
	if !(exchange{e, r.by[e.Seq]}).heard() { // late: a later compaction has removed it
		o.holds = func(s *TileState) bool {
			return (s.Entries|s.Compacts)&bit(batch) == 0 && s.Runs[run].Step != tileReadsOffsets
		}
	}
}

// end compares what the audit found.
func (r *tileReader) end() {
	var planned, committed int
	var entries, compacts uint64
	for i := range r.audit.Objects {
		o := &r.audit.Objects[i]
		name, _ := strings.CutPrefix(o.Key, r.at.Prefix)
		if number, ok := strings.CutPrefix(name, tileOffsetsLog); ok && r.batch(number) >= 0 {
			planned++
		} else if number, ok := strings.CutPrefix(name, tileCommitsLog); ok &&
			r.batch(number) >= 0 {
			committed++
		} else if number, ok := strings.CutPrefix(name, tileSinkLog); ok {
			number, compact := strings.CutSuffix(number, ".compact")
			switch batch := r.batch(number); {
			case batch < 0: // a file that a writer left half done
			case compact:
				compacts |= bit(batch)
			default:
				entries |= bit(batch)
			}
		}
	}
	r.final(fmt.Sprintf("%d batches are planned, %d committed", planned, committed),
		func(s *TileState) bool {
			return s.planned() == planned && int(s.Committed) == committed
		})
	r.final(fmt.Sprintf("the sink log has %s, compact %s", offsets(entries), offsets(compacts)),
		func(s *TileState) bool { return s.Entries == entries && s.Compacts == compacts })
}

// final is what the audit says of the state at the end.
func (r *tileReader) final(what string, holds func(s *TileState) bool) {
	r.seen = append(r.seen, observation[TileState]{
		seq: int64(r.h.Len()), what: func() string { return "the audit says: " + what },
		who: check.Nobody, holds: holds,
	})
}
