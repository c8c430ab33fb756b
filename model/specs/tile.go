package specs

import (
	"math/bits"

	"github.com/hopcheck/hopcheck/model/check"
)

// MaxTileRuns is the most runs on one checkpoint that a TileState has room for.
const MaxTileRuns = 2

// TileState is a tile: the three logs of its batches, and the runs that write them.
// Offsets are those of all partitions in a row. Sets of offsets and of batches are bit
// masks.
type TileState struct {
	Runs [MaxTileRuns]TileRun

	Ends      uint64 // the offsets log: offsets with which a planned batch ends
	Committed uint8  // the commits log: so many batches are in it
	Entries   uint64 // the sink log: batches that have an entry of their own
	Compacts  uint64 // batches whose entry stands for all before it, too
	Logged    uint8  // batches below it were in the sink log

	Counted uint64 // offsets that the parts count that the sink log ever named
	Twice   bool   // one of them twice
	Torn    uint64 // batches that the sink log names, and whose parts are not stored
	Shared  bool   // two runs take one entry for theirs
	Changed bool   // an entry of the sink log was put over another
	Lost    bool   // the checkpoint was

	Left TileFaults
}

// TileFaults is how many faults may still happen.
type TileFaults struct{ Crashes, Lost, Late, Accidents uint8 }

// TileRun is what a run of a tile has in hand.
type TileRun struct {
	Step  tileStep
	Batch uint8 // the batch in hand; of a run at rest the one that it plans next
	Done  uint8 // so many of its works are done
	End   uint8 // where the batch in hand ends; of a run at rest the last one
	Own   bool  // what it writes next is there already, and its own
	At    uint8 // entries below it were removed, or tried

	// For comparison with histories: it has written nothing yet; it waits for an answer.
	Fresh, Waits bool

	// What it has read of the logs: so many batches are in each.
	SawCommits, SawSink, SawOffsets uint8

	// A put of a life that is over, still on its way: of which kind, for which batch,
	// and where that ends.
	Late                tileWork
	LateBatch, LateEnds uint8
}

// tileStep is where a run is.
type tileStep uint8

const (
	tileDown tileStep = iota
	tileReadsCommits
	tileReadsSink
	tileReadsOffsets
	tileRests
	tileWrites
	tileCleans
	tileRefuses // the logs make no sense: it wants an operator
)

// tileWork is something that a batch writes.
type tileWork uint8

const (
	noWork tileWork = iota
	planWork
	partsWork
	sinkWork
	commitWork
)

// tile is the specification of hop 3.
type tile struct {
	records, compact, runs int
	faults                 TileFaults
	bug                    string
	works                  [3]tileWork // of a batch that is planned, in their order
	// free lets faults happen without end, and adds the steps that change nothing:
	// for comparison with histories.
	free bool
}

func newTile(v Values, bug string) tile {
	t := tile{
		records: v["records"], compact: v["compact"], runs: v["runs"], bug: bug,
		faults: TileFaults{
			uint8(v["crashes"]), uint8(v["lost"]), uint8(v["late"]), uint8(v["accidents"]),
		},
		works: [3]tileWork{partsWork, sinkWork, commitWork},
	}
	switch bug {
	case sinkLogFirst:
		t.works = [3]tileWork{sinkWork, partsWork, commitWork}
	case commitsLogFirst:
		t.works = [3]tileWork{partsWork, commitWork, sinkWork}
	}
	return t
}

func (t tile) spec() check.Spec[TileState] {
	name := "tile"
	if t.bug != "" {
		name += " " + t.bug
	}
	return check.Spec[TileState]{
		Name: name, Init: []TileState{{Left: t.faults}},
		Next: t.next, Always: t.kept, Quiescent: t.drained,
	}
}

// planned is how many batches are in the offsets log.
func (s *TileState) planned() int { return bits.OnesCount64(s.Ends) }

// end returns where the first n planned batches end.
func (s *TileState) end(n int) int {
	ends := s.Ends
	for ; n > 1; n-- {
		ends &= ends - 1
	}
	if n < 1 || ends == 0 {
		return 0
	}
	return bits.TrailingZeros64(ends) + 1
}

// offsets returns the offsets of a planned batch.
func (s *TileState) offsets(batch int) uint64 {
	return below(s.end(batch+1)) &^ below(s.end(batch))
}

// visible are the batches that a reader of the sink log finds: those with an entry, and
// those that the last compact file stands for.
func (s *TileState) visible() uint64 {
	return s.Entries | s.Compacts | below(bits.Len64(s.Compacts))
}

// compacts says whether the entry of a batch in the sink log is a compact file.
func (t tile) compacts(batch uint8) bool { return (int(batch)+1)%t.compact == 0 }

func (t tile) next(c *check.Out[TileState], s *TileState) {
	for r := range t.runs {
		t.hear(c, s, r)
		t.look(c, s, r)
		t.decide(c, s, r)
		t.plan(c, s, r)
		t.store(c, s, r)
		t.log(c, s, r)
		t.commit(c, s, r)
		t.clean(c, s, r)
		t.late(c, s, r)
		t.crash(c, s, r)
	}
	t.accident(c, s, check.Nobody)
}

// look lists the three logs, one after the other, against the order in which they are
// written.
func (t tile) look(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if me.Step == tileDown || t.free && (me.Step <= tileReadsCommits || me.Fresh) {
		you := &c.Do("list commits", r).Runs[r]
		*you = TileRun{
			Step: tileReadsCommits, SawCommits: s.Committed, Fresh: t.free,
			Late: me.Late, LateBatch: me.LateBatch, LateEnds: me.LateEnds,
		}
	}
	if me.Step == tileReadsCommits || t.free && me.Step == tileReadsSink {
		you := &c.Do("list sink log", r).Runs[r]
		you.Step, you.SawSink = tileReadsSink, uint8(bits.Len64(s.Entries|s.Compacts))
	}
	if me.Step == tileReadsSink || t.free && me.Step == tileReadsOffsets {
		you := &c.Do("list offsets", r).Runs[r]
		you.Step, you.SawOffsets = tileReadsOffsets, uint8(s.planned())
	}
}

// sane says whether three logs can be those of one tile: each is ahead of the next by
// one batch at most.
func (t tile) sane(offsets, sink, commits int) bool {
	if t.bug == restartAtZero {
		sink = min(sink, offsets)
	}
	return sink <= offsets && commits <= sink && offsets <= commits+1
}

// decide goes on with the last planned batch, with the range that it has, or rests if
// that is committed. Logs that make no sense may be those of another run that is alive:
// then it looks again, and refuses if they stay so. The mistake replan forgets a plan
// that was not committed.
func (t tile) decide(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if me.Step != tileReadsOffsets {
		return
	}
	offsets, sink, commits := int(me.SawOffsets), int(me.SawSink), int(me.SawCommits)
	if !t.sane(offsets, sink, commits) {
		c.Do("look again", r).Runs[r].Step = tileDown
		if !t.sane(s.planned(), bits.Len64(s.Entries|s.Compacts), int(s.Committed)) {
			c.Do("refuse", r).Runs[r].Step = tileRefuses
		}
		return
	}
	you := &c.Do("decide", r).Runs[r]
	you.SawCommits, you.SawSink, you.SawOffsets = 0, 0, 0
	if t.bug == replan {
		offsets = commits
	}
	you.End = uint8(s.end(offsets))
	if offsets == commits {
		you.Step, you.Batch = tileRests, uint8(offsets)
		return
	}
	you.Step, you.Batch = tileWrites, uint8(offsets-1)
	if sink >= offsets {
		you.Done = 2
	}
}

// plan writes the range of the next batch to the offsets log, if nobody has.
func (t tile) plan(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	cleaned := me.Step == tileCleans && s.covered()&^below(int(me.At)) == 0
	if me.Step != tileRests && !cleaned || me.Waits {
		return
	}
	if t.free {
		t.begun(c.Fault("plan fails", r), r)
	}
	over := t.bug == replan || t.bug == putOver
	if s.planned() > int(me.Batch) && !over {
		t.taken(c, s, r, planWork)
		return
	}
	for end := int(me.End) + 1; end <= t.records; end++ {
		n := c.Do("plan", r)
		n.plan(me, end)
		you := t.begun(n, r)
		you.Step, you.End, you.Done, you.Own = tileWrites, uint8(end), 0, false
		you.Waits = t.free
		if t.free || s.Left.Lost > 0 {
			n = c.Fault("plan, answer lost", r)
			n.plan(me, end)
			t.begun(n, r).Own = true
			t.lose(n)
		}
	}
}

// plan puts the plan of a batch that follows the one that me has in hand.
func (s *TileState) plan(me *TileRun, end int) {
	s.Ends = s.Ends&below(int(me.End)) | bit(end-1)
}

// tileRefused are the actions of puts where something is.
var tileRefused = map[tileWork]string{
	planWork: "plan refused", sinkWork: "log refused", commitWork: "commit refused",
}

// taken is a put where something is: what the run has put itself, in a call without an
// answer, or what another run has put. In the log of commits all entries are alike.
// Who meets another's entry stops. The mistake exists-is-mine takes it for its own.
func (t tile) taken(c *check.Out[TileState], s *TileState, r int, work tileWork) {
	me := &s.Runs[r]
	n := c.Do(tileRefused[work], r)
	you := t.begun(n, r)
	if !me.Own && work != commitWork && t.bug != existsIsMine {
		you.over()
		return
	}
	n.Shared = s.Shared || !me.Own && work != commitWork
	if work == planWork {
		you.Step, you.End = tileWrites, uint8(s.end(int(me.Batch)+1))
		you.Own, you.Done, you.Waits = false, 0, t.free
		return
	}
	t.did(n, r)
}

// begun says that a run has written.
func (t tile) begun(n *TileState, r int) *TileRun {
	you := &n.Runs[r]
	you.Fresh = false
	if you.Step == tileCleans {
		you.Step, you.At = tileRests, 0
	}
	return you
}

// over ends a life.
func (you *TileRun) over() {
	*you = TileRun{Late: you.Late, LateBatch: you.LateBatch, LateEnds: you.LateEnds}
}

// does says that a run has to do this work next.
func (t tile) does(me *TileRun, work tileWork) bool {
	return me.Step == tileWrites && t.works[me.Done] == work && !me.Waits
}

// did goes on behind a work that is done. After the last one of a batch whose entry is
// a compact file the run removes what that stands for.
func (t tile) did(n *TileState, r int) {
	you := &n.Runs[r]
	you.Done, you.Own, you.Fresh, you.Waits = you.Done+1, false, false, t.free
	if int(you.Done) < len(t.works) {
		return
	}
	compacted := t.compacts(you.Batch)
	you.Step, you.Done, you.Batch = tileRests, 0, you.Batch+1
	if compacted && n.covered() != 0 {
		you.Step, you.At = tileCleans, 0
	}
}

// hear brings an answer. But for histories a put and its answer are one step: who is
// killed in between is one whose answer was lost.
func (t tile) hear(c *check.Out[TileState], s *TileState, r int) {
	if s.Runs[r].Waits {
		c.Do("answered", r).Runs[r].Waits = false
	}
}

// store reads the range and writes the parts, under names that nobody else has.
func (t tile) store(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if me.Waits {
		return
	}
	if t.free && me.Step == tileWrites && me.Done < 2 {
		t.begun(c.Fault("store parts fails", r), r)
		t.begun(c.Fault("store parts, answer lost", r), r)
	}
	if t.does(me, partsWork) {
		n := c.Do("store parts", r)
		n.Torn &^= bit(int(me.Batch))
		t.did(n, r)
	}
}

// has says that there is an entry under the name of a batch in the sink log.
func (s *TileState) has(batch uint8) bool {
	return (s.Entries|s.Compacts)&bit(int(batch)) != 0
}

// log names the parts in the sink log, if nothing has the name of this batch there. A
// compact file names all that the log has named before. Whoever comes so late that a
// compact file stands for the batch already, and its own entry was removed, puts one
// that no reader looks at. The mistake put-over asks nobody, and delete-first removes
// what a compact file stands for before it is there.
func (t tile) log(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if !t.does(me, sinkWork) {
		return
	}
	compacts := t.compacts(me.Batch)
	if before := s.Entries & below(int(me.Batch)); t.bug == deleteFirst && compacts && before != 0 {
		c.Do("remove", r).Entries &= before &^ (before & -before)
		return
	}
	if t.free {
		t.begun(c.Fault("log fails", r), r)
	}
	there := s.has(me.Batch)
	switch {
	case there && (t.bug == replan || t.bug == restartAtZero):
		t.did(c.Do("skip", r), r) // it takes the batch for done
	case there && t.bug != putOver:
		t.taken(c, s, r, sinkWork)
	default:
		n := c.Do("log", r)
		n.Changed = s.Changed || there && !me.Own
		n.name(t, me.Batch)
		t.did(n, r)
		if t.free || s.Left.Lost > 0 {
			n = c.Fault("log, answer lost", r)
			n.name(t, me.Batch)
			t.begun(n, r).Own = true
			t.lose(n)
		}
	}
}

// name puts the entry of a batch into the sink log: its parts count what is planned.
func (s *TileState) name(t tile, batch uint8) {
	if s.Logged <= batch {
		offsets := s.offsets(int(batch))
		s.Twice = s.Twice || s.Counted&offsets != 0
		s.Counted |= offsets
	}
	s.Logged = max(s.Logged, batch+1)
	if t.works[0] == sinkWork {
		s.Torn |= bit(int(batch))
	}
	if t.compacts(batch) {
		s.Compacts |= bit(int(batch))
	} else {
		s.Entries |= bit(int(batch))
	}
}

// commit writes the batch to the commits log. All runs write the same.
func (t tile) commit(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	if !t.does(me, commitWork) {
		return
	}
	if t.free {
		t.begun(c.Fault("commit fails", r), r)
	}
	if s.Committed > me.Batch {
		t.taken(c, s, r, commitWork)
		return
	}
	n := c.Do("commit", r)
	n.Committed = me.Batch + 1
	t.did(n, r)
	if t.free || s.Left.Lost > 0 {
		n = c.Fault("commit, answer lost", r)
		n.Committed = me.Batch + 1
		t.begun(n, r)
		t.lose(n)
	}
}

// covered are the entries that the last compact file stands for.
func (s *TileState) covered() uint64 { return (s.Entries | s.Compacts) & s.stoodFor() }

// stoodFor are the batches before the last compact file, with entries or without.
func (s *TileState) stoodFor() uint64 { return below(bits.Len64(s.Compacts)) >> 1 }

// clean removes what a compact file stands for, once the batch is committed. A removal
// that fails is left to the next compaction.
func (t tile) clean(c *check.Out[TileState], s *TileState, r int) {
	me := &s.Runs[r]
	covered := s.covered()
	if t.free { // another run may have been faster
		covered = s.stoodFor()
	}
	late := t.free && me.Step == tileRests && me.Batch > 0 && t.compacts(me.Batch-1)
	for open := covered &^ below(int(me.At)); open != 0; open &= open - 1 {
		if me.Step != tileCleans && !late || me.Waits {
			return
		}
		entry := open & -open
		remove := func(n *TileState) {
			n.Entries, n.Compacts = n.Entries&^entry, n.Compacts&^entry
			n.Runs[r].At, n.Runs[r].Fresh = uint8(bits.TrailingZeros64(open)+1), false
		}
		n := c.Do("remove", r)
		remove(n)
		n.Runs[r].Waits = t.free
		if t.free {
			remove(c.Fault("remove, answer lost", r))
		}
		if t.free || s.Left.Lost > 0 {
			n := c.Fault("remove fails", r)
			n.Runs[r].At, n.Runs[r].Fresh = uint8(bits.TrailingZeros64(open)+1), false
			t.lose(n)
		}
		if !t.free {
			return
		}
	}
}
