package props

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// The three logs of a tile, by folder below its prefix: what each batch reads, the
// files that are data, and the batches that are over.
const (
	tilePlans   = "checkpoint/offsets/"
	tileSink    = "_spark_metadata/"
	tileCommits = "checkpoint/commits/"
)

// tileName is what the key of an object says of its place in a tile's logs.
type tileName struct {
	log     string // one of the three, or "" for an object that is in none
	batch   int64
	compact bool // it stands for all batches before it, too
}

func tileNameOf(prefix, key string) tileName {
	name, ok := strings.CutPrefix(key, prefix+"/")
	if !ok {
		return tileName{}
	}
	for _, log := range [...]string{tilePlans, tileSink, tileCommits} {
		number, ok := strings.CutPrefix(name, log)
		if !ok {
			continue
		}
		compact := false
		if log == tileSink {
			number, compact = strings.CutSuffix(number, ".compact")
		}
		batch, err := strconv.ParseInt(number, 10, 64)
		if err != nil || batch < 0 || strconv.FormatInt(batch, 10) != number {
			break // a temporary file
		}
		return tileName{log, batch, compact}
	}
	return tileName{}
}

// visible reports whether a reader goes by this object of the sink log, where the
// last compact file is of batch base, -1 for none.
func (n tileName) visible(base int64) bool {
	return n.batch > base || n.batch == base && n.compact
}

// tileWrite is a write to one of a tile's logs that took effect.
type tileWrite struct {
	step
	tileName
	first int64 // when its life asked for this content for the first time
	anew  bool  // an operator had removed what stood there
	stray bool  // that, and its life was over

	// Of the sink log.
	plan    *tileWrite // the last plan of its batch when it took effect, nil for none
	covered bool       // a compact file replaced it before it came: no reader goes by it
	fresh   []tileFile // the files that the sink log did not name before
	lost    []string   // the files that it named before, and no longer
}

// tileFile is a file of a tile and the put that it had when it was named; no put
// where it was not there.
type tileFile struct {
	key string
	put step
}

// tileDelete is the removal of an object of the sink log.
type tileDelete struct {
	step
	entry   *tileWrite
	covered bool // readers no longer went by it
	foreign bool // by a process that writes no log: an operator's doing
}

// tileRefusal is a conditional write to one of the logs that was refused.
type tileRefusal struct {
	step
	there step // what stood there; none where no write of it is known
}

// tileLog is what a history says of one tile: its logs, in the order in which
// things took effect.
type tileLog struct {
	prefix  string
	writes  []*tileWrite
	deletes []tileDelete
	refused []*tileRefusal
	damage  int64 // when an operator first removed data or sink log; 0: never

	writers map[string]bool       // processes that asked for a write to a log
	over    map[life]int64        // when lives ended
	asked   map[lifeContent]int64 // when they first asked for a content
	there   map[string]step       // by key, what stands
	removed map[string]bool       // by key, that an operator removed it
	plans   map[int64]*tileWrite  // by batch, the last
	entries map[string]*tileWrite // by key, the objects of the sink log that stand
	base    int64                 // the batch of its last compact file, -1 for none
	named   map[string]bool       // the files that a reader of it would find
}

type lifeContent struct {
	life
	content
}

func contentOf(e *model.Event) content { return content{e.Key, e.Digest} }

// openTile folds the history of the tile below prefix.
func openTile(h *model.History, prefix string) *tileLog {
	t := &tileLog{
		prefix: prefix, writers: make(map[string]bool), over: make(map[life]int64),
		asked: make(map[lifeContent]int64), there: make(map[string]step),
		removed: make(map[string]bool), plans: make(map[int64]*tileWrite),
		entries: make(map[string]*tileWrite), base: -1, named: make(map[string]bool),
	}
	all := exchanges(h, model.Call, model.Return, "put", "putif", "delete")
	all = slices.DeleteFunc(all, func(s step) bool {
		return !strings.HasPrefix(s.ask.Key, prefix+"/")
	})
	for i := range all {
		if e := all[i].ask; e.Op != "delete" && tileNameOf(prefix, e.Key).log != "" {
			t.writers[e.Proc] = true
		}
	}
	events := h.Events()
	for i := range events {
		if e := &events[i]; e.Kind == model.Crash || e.Kind == model.Exit {
			t.over[lifeOf(e)] = e.Seq
		}
	}
	settleUnknown(h, all)
	for _, s := range all {
		switch {
		case s.ask.Op == "delete":
			t.deleted(s)
		default:
			t.put(s)
		}
	}
	return t
}

// settleUnknown gives an answer to puts whose answer is missing, or an error that
// hides what happened, and of which somebody saw the bytes later: of several such the
// first, and none where a put that is known to have taken effect had these bytes.
func settleUnknown(h *model.History, all []step) {
	hidden := func(s step) bool {
		return s.ask.Op != "delete" && (s.answer == nil ||
			s.answer.Outcome == model.Unknown && !s.took() && s.answer.Err != "precondition")
	}
	if !slices.ContainsFunc(all, hidden) {
		return
	}
	known := make(map[content]bool)
	for _, s := range all {
		if s.ask.Op != "delete" && s.took() {
			known[contentOf(s.ask)] = true
		}
	}
	seen := make(map[content]int64)
	events := h.Events()
	for i := range events {
		e := &events[i]
		if e.Err == "" && (e.Kind == model.Return && e.Op == "get" ||
			e.Kind == model.Observe && e.Op == "object") {
			seen[contentOf(e)] = e.Seq
		}
	}
	for i, s := range all {
		if c := contentOf(s.ask); hidden(s) && !known[c] && seen[c] > s.ask.Seq {
			known[c] = true
			answer := *s.ask
			answer.Err = ""
			all[i].answer = &answer
		}
	}
}

func (t *tileLog) put(s step) {
	name := tileNameOf(t.prefix, s.ask.Key)
	by := lifeContent{lifeOf(s.ask), contentOf(s.ask)}
	if t.asked[by] == 0 {
		t.asked[by] = s.ask.Seq
	}
	switch {
	case s.took():
		t.wrote(&tileWrite{step: s, tileName: name, first: t.asked[by]})
	case s.answer != nil && s.answer.Err == "precondition" && name.log != "":
		t.refused = append(t.refused, &tileRefusal{step: s, there: t.there[s.ask.Key]})
	}
}

func (t *tileLog) wrote(w *tileWrite) {
	key := w.ask.Key
	// A real store may have acted in another order than it was asked.
	for _, r := range t.refused {
		if r.ask.Key == key && r.there.ask == nil && w.ask.Seq < r.answer.Seq {
			r.there = w.step
		}
	}
	over := t.over[lifeOf(w.ask)]
	w.anew = t.removed[key]
	w.stray = w.anew && over != 0 && over < w.ask.Seq
	switch {
	case w.log == tileSink:
		t.enter(w)
	case w.log == tilePlans && !w.stray:
		t.plans[w.batch] = w
	}
	t.there[key] = w.step
	if w.log != "" {
		t.writes = append(t.writes, w)
	}
}

// enter takes in an object of the sink log.
func (t *tileLog) enter(w *tileWrite) {
	w.plan = t.plans[w.batch]
	w.covered = !w.visible(t.base)
	before := t.entries[w.ask.Key]
	t.entries[w.ask.Key] = w
	if w.covered {
		return
	}
	for _, c := range w.answer.Counts {
		if !t.named[c.Of] {
			t.named[c.Of] = true
			w.fresh = append(w.fresh, tileFile{c.Of, t.there[c.Of]})
		}
	}
	if w.compact || before != nil {
		w.lost = t.look()
	}
}

// look reads the sink log anew, as a reader does, and returns the files that it no
// longer names.
func (t *tileLog) look() (lost []string) {
	t.base = -1
	for _, e := range t.entries {
		if e.compact {
			t.base = max(t.base, e.batch)
		}
	}
	before := t.named
	t.named = make(map[string]bool, len(before))
	for _, e := range t.entries {
		if e.visible(t.base) {
			for _, c := range e.answer.Counts {
				t.named[c.Of] = true
			}
		}
	}
	for key := range before {
		if !t.named[key] {
			lost = append(lost, key)
		}
	}
	slices.Sort(lost)
	return lost
}

func (t *tileLog) deleted(s step) {
	key := s.ask.Key
	if _, stands := t.there[key]; !stands || !s.took() {
		return
	}
	delete(t.there, key)
	foreign := !t.writers[s.ask.Proc]
	if foreign {
		t.removed[key] = true
		log := tileNameOf(t.prefix, key).log
		if t.damage == 0 && (log == tileSink || t.named[key]) {
			t.damage = s.ask.Seq
		}
	}
	e := t.entries[key]
	if e == nil {
		return
	}
	delete(t.entries, key)
	covered := !e.visible(t.base)
	t.deletes = append(t.deletes, tileDelete{s, e, covered, foreign})
	if !covered {
		t.look()
	}
}

// tileBatch is what became of one batch: its plan, and its object in the sink log.
type tileBatch struct {
	number int64
	// plan is the one that its object in the sink log is about; where there is no
	// such object, the last. Nil for none.
	plan  *tileWrite
	entry *tileWrite // nil where no reader ever saw one
}

// batches returns the batches that were planned or are in the sink log, in order.
func (t *tileLog) batches() []tileBatch {
	all := make(map[int64]tileBatch)
	for number, plan := range t.plans {
		all[number] = tileBatch{number: number, plan: plan}
	}
	for _, w := range t.writes {
		if w.log == tileSink && !w.covered {
			all[w.batch] = tileBatch{w.batch, w.plan, w}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b tileBatch) int {
		return cmp.Compare(a.number, b.number)
	})
}

// by names the life that wrote.
func (w *tileWrite) by() string { return lifeText(lifeOf(w.ask)) }

func lifeText(l life) string { return fmt.Sprintf("%s life %d", l.proc, l.number) }

// ranges are the ranges of a plan in one topic, or in all for "".
func (w *tileWrite) ranges(topic string) []model.Part {
	var parts []model.Part
	for _, p := range w.answer.Parts {
		if topic == "" || p.Topic == topic {
			parts = append(parts, p)
		}
	}
	return parts
}

// rangesText names ranges, half open.
func rangesText(parts []model.Part) string {
	if len(parts) == 0 {
		return "none"
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, fmt.Sprintf("%s/%d [%d, %d)", p.Topic, p.Partition, p.Offset, p.End))
	}
	return strings.Join(texts, ", ")
}

// tileText fills a topic and the keys of a tile into a small history.
func tileText(history, topic, prefix string) string {
	const cell = "2026-01-05T09:00:00Z go"
	return text(history, "TOPIC", topic, "CELL", cell, "DISTINCT", "distinct "+cell,
		"PLAN-A", prefix+"/checkpoint/offsets/0", "PLAN-B", prefix+"/checkpoint/offsets/1",
		"PART-A", prefix+"/part-a.parquet", "PART-B", prefix+"/part-b.parquet",
		"SINK-A", prefix+"/_spark_metadata/0", "SINK-B", prefix+"/_spark_metadata/1",
		"COMPACT-B", prefix+"/_spark_metadata/1.compact",
		"COMMIT-A", prefix+"/checkpoint/commits/0")
}
