package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// CourseDay promises that the morning model counts what it says: per course and day its
// lines are the accepted offsets of the topic below the offsets of the group, and its
// distinct events are the ids that stand there.
//
// The report is the last note "course-day", whose counts are of "<course> <day> lines"
// and "<course> <day> distinct"; records say their course and day as their cell. What
// the group has not committed may be stored already, so records that are not below its
// offset may be counted or not; without such records the report must be exact. So may
// those that retention took, of which only some were stored before.
//
// It cannot conclude anything without an audit of the topic and such a note, where a
// partition or an offset of the group could not be read, or where an accepted record
// says no cell; nor of too many, where retention took records that no reply to a
// Produce names. The report must be made when nothing lands any more.
func CourseDay(topic, group string) Property {
	name := "course-day/" + topic
	return Property{
		Name: name,
		Says: "Per course and day, course_day counts the accepted offsets of " + topic +
			" that " + group + " has committed, and their distinct ids.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkCourseDay(openLedger(h), topic, group, &f)
			return f.broken()
		},
		Holds:  text(courseDayHolds, "TOPIC", topic, "GROUP", group),
		Breaks: text(courseDayBreaks, "TOPIC", topic, "GROUP", group),
	}
}

const courseDayHolds = `
1 8s course_day/0 life 1 note course-day ("go 2026-01-05 lines" 2) ("go 2026-01-05 distinct" 1)
2 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1 cell="go 2026-01-05"} {@1 id=ev-1 cell="go 2026-01-05"} {@2 class=bad}]
3 9s - observe commit group=GROUP [TOPIC/0 @3]
`

const courseDayBreaks = `
1 8s course_day/0 life 1 note course-day ("go 2026-01-05 lines" 2) ("go 2026-01-05 distinct" 2)
2 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1 cell="go 2026-01-05"} {@1 id=ev-1 cell="go 2026-01-05"}]
3 9s - observe commit group=GROUP [TOPIC/0 @2]
`

// dayBounds are what must be counted and what may be.
type dayBounds struct {
	must, may cells
	open      bool // there may be more, nobody knows how many
	seqs      []int64
}

func checkCourseDay(l *ledger, topic, group string, f *findings) {
	var report *model.Event
	events := l.h.Events()
	for i := range events {
		if e := &events[i]; e.Kind == model.Note && e.Op == "course-day" {
			report = e
		}
	}
	if report == nil || l.logUnread(topic) || l.commitUnread(group) {
		return
	}
	bounds, known := l.dayBounds(topic, group)
	if !known {
		return
	}
	has := make(cells)
	for _, c := range report.Counts {
		if day, ok := strings.CutSuffix(c.Of, " lines"); ok {
			has.at(day).events += c.N
		} else if day, ok := strings.CutSuffix(c.Of, " distinct"); ok {
			has.at(day).distinct += c.N
		}
	}
	for _, day := range has.names(bounds.may) {
		x, must, may := has.at(day), bounds.must.at(day), bounds.may.at(day)
		const witness = "%s counts %d %s of %q; accepted below the offsets of %s: %s"
		if says, wrong := bounds.wrong(x.events, must.events, may.events); wrong {
			f.add(fmt.Sprintf(witness, report.Proc, x.events, "lines", day, group, says),
				append(bounds.seqs, report.Seq)...)
		}
		if says, wrong := bounds.wrong(x.distinct, must.distinct, may.distinct); wrong {
			f.add(fmt.Sprintf(witness, report.Proc, x.distinct, "distinct ids", day, group, says),
				append(bounds.seqs, report.Seq)...)
		}
	}
}

// wrong reports whether a count is out of bounds, and says what they are.
func (b *dayBounds) wrong(has, must, may int64) (string, bool) {
	says := fmt.Sprint(must)
	switch {
	case b.open:
		says += " or more"
	case must != may:
		says = fmt.Sprintf("%d to %d", must, may)
	}
	return says, has < must || has > may && !b.open
}

// dayBounds counts the accepted records of a topic by course and day. It reports false
// where one does not say its own, or the topic was not audited.
func (l *ledger) dayBounds(topic, group string) (dayBounds, bool) {
	source := l.cellSource(topic)
	b := dayBounds{must: make(cells), may: make(cells)}
	for i := range source.logs {
		log := &source.logs[i]
		commit := l.committed(group, topic, log.partition)
		b.seqs = append(b.seqs, log.seq, commit.Seq)
		for at := int64(0); at < log.start; at++ {
			r := source.trimmed[model.Position{
				Topic: topic, Partition: log.partition, Offset: at,
			}]
			if r == nil {
				b.open = true
				break
			}
			if r.Class == "" {
				b.may.addRecord(r)
			}
		}
		for r := range log.decided() {
			if r.Offset < log.start || r.Class != "" {
				continue
			}
			if r.Cell == "" {
				return b, false
			}
			b.may.addRecord(r)
			if r.Offset < commit.Offset {
				b.must.addRecord(r)
			}
		}
	}
	return b, len(source.logs) > 0
}
