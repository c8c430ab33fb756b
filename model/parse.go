package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseText reads the line that [AppendText] wrote, without its newline. Fields
// may come in any order, and blanks and tabs may stand between words, so that a
// line can be written by hand. A field given twice, an unknown field, kind or
// outcome, and a byte that is not text are errors; each names the column,
// counted in bytes from 1, and what is wrong there.
func ParseText(line string) (Event, error) {
	if err := checkText(line); err != nil {
		return Event{}, err
	}
	p := &cursor{s: line}
	var e Event
	p.header(&e)
	p.body(&e)
	if p.err != nil {
		return Event{}, p.err
	}
	return e, nil
}

// checkText refuses what no printed line holds, before quotes could hide it.
func checkText(line string) error {
	for i, r := range line {
		damaged := r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD")
		if damaged || r < ' ' && r != '\t' || r == 0x7f {
			return fmt.Errorf("column %d: byte 0x%02x is not text: the file is binary or damaged",
				i+1, line[i])
		}
	}
	return nil
}

// cursor walks over one line. The first error sticks and moves it to the end,
// so that loops stop and callers look at err once.
type cursor struct {
	s   string
	i   int
	err error
}

func (p *cursor) header(e *Event) {
	e.Seq = p.number("seq", 64)
	p.blank()
	e.At = p.duration()
	e.Proc = p.name("process")
	if p.literal("life") {
		e.Life = int(p.number("life", strconv.IntSize))
		p.blank()
	}
	at := p.skip()
	e.Kind = Kind(p.name("kind"))
	if !e.Kind.known() {
		p.fail(at, "unknown kind %q", e.Kind)
	}
	if !p.atWord() {
		return
	}
	e.Op = p.name("op")
	if p.atNumber() {
		e.Nth = int(p.number("nth", strconv.IntSize))
		p.blank()
	}
	if p.atWord() {
		at = p.skip()
		e.Outcome = Outcome(p.word("outcome"))
		if !e.Outcome.known() || e.Outcome == NoOutcome {
			p.fail(at, "unknown outcome %q: done, not-done or unknown", e.Outcome)
		}
	}
}

func (p *cursor) body(e *Event) {
	var seen []string
	for !p.done() {
		switch p.s[p.i] {
		case '[':
			e.Parts = append(e.Parts, p.part())
		case '(':
			e.Counts = append(e.Counts, p.count())
		default:
			p.field(e, p.fieldName(&seen))
		}
	}
}

func (p *cursor) field(e *Event, name string) {
	switch name {
	case "of":
		e.Of = p.value(name, 64)
	case "err":
		e.Err = p.word(name)
	case "producer":
		e.Producer = p.value(name, 64)
	case "epoch":
		e.Epoch = int16(p.value(name, 16))
	case "group":
		e.Group = p.word(name)
	case "member":
		e.Member = p.word(name)
	case "gen":
		e.Generation = int32(p.value(name, 32))
	case "txn":
		e.TxnID = p.word(name)
	case "key":
		e.Key = p.word(name)
	case "digest":
		e.Digest = p.word(name)
	case "etag":
		e.ETag = p.word(name)
	case "bytes":
		e.Bytes = p.value(name, 64)
	case "lsn":
		e.LSN = p.word(name)
	case "note":
		e.Note = p.word(name)
	default:
		p.fail(p.i-len(name)-1, "an event has no field %q", name)
	}
}

// count reads "(of n)".
func (p *cursor) count() Count {
	open := p.i
	p.i++
	p.skip()
	c := Count{Of: p.loose("count", false)}
	if p.i < len(p.s) && !isBlank(p.s[p.i]) {
		p.fail(p.i, "%s where a blank is wanted", p.found(p.i))
	}
	c.N = p.number("count", 64)
	if !p.closed(open, ')') {
		p.fail(p.i, "%s where ')' is wanted", p.found(p.i))
	}
	return c
}

func (p *cursor) part() Part {
	open := p.i
	p.i++
	part := PartOf(p.topic(), 0)
	p.expect('/')
	part.Partition = int32(p.value("partition", 32))
	var seen []string
	for !p.closed(open, ']') {
		switch p.s[p.i] {
		case '{':
			part.Records = append(part.Records, p.record())
			continue
		case '@':
			part.Offset = p.offset(&seen)
			continue
		}
		switch name := p.fieldName(&seen); name {
		case "end":
			part.End = p.value(name, 64)
		case "stable":
			part.Stable = p.value(name, 64)
		case "seq":
			part.Sequence = int32(p.value(name, 32))
		case "err":
			part.Err = p.word(name)
		default:
			p.fail(p.i-len(name)-1, "a part has no field %q", name)
		}
	}
	return part
}

func (p *cursor) record() Record {
	open := p.i
	p.i++
	r := Record{Offset: -1}
	var seen []string
	for !p.closed(open, '}') {
		if p.s[p.i] == '@' {
			r.Offset = p.offset(&seen)
			continue
		}
		if p.atWord() {
			at := p.skip()
			kind := RecordKind(p.word("record kind"))
			if !kind.known() || kind == Data {
				p.fail(at, "unknown record kind %q", kind)
			}
			p.once(at, &seen, "kind of record")
			r.Kind = kind
			continue
		}
		switch name := p.fieldName(&seen); name {
		case "id":
			r.ID = p.word(name)
		case "key":
			r.Key = p.word(name)
		case "digest":
			r.Digest = p.word(name)
		case "from":
			r.From = p.position()
		case "class":
			r.Class = p.word(name)
		case "cell":
			r.Cell = p.word(name)
		case "producer":
			r.Producer = p.value(name, 64)
		default:
			p.fail(p.i-len(name)-1, "a record has no field %q", name)
		}
	}
	return r
}

func (p *cursor) position() Position {
	pos := Position{Topic: p.topic()}
	p.expect('/')
	pos.Partition = int32(p.number("partition", 32))
	p.expect('@')
	pos.Offset = p.value("offset", 64)
	return pos
}

func (p *cursor) offset(seen *[]string) int64 {
	p.once(p.i, seen, "@offset")
	p.expect('@')
	return p.value("offset", 64)
}

// fieldName reads "name=", which may stand once in its event, part or record.
func (p *cursor) fieldName(seen *[]string) string {
	at := p.skip()
	name := p.bare(false)
	if name == "" || p.i == len(p.s) || p.s[p.i] != '=' {
		p.fail(at, "%s where name=value is wanted", p.found(at))
		return ""
	}
	p.once(at, seen, name)
	p.expect('=')
	if p.i == len(p.s) || isBlank(p.s[p.i]) {
		p.fail(at, "%s= has no value", name)
	}
	return name
}

func (p *cursor) once(at int, seen *[]string, name string) {
	if slices.Contains(*seen, name) {
		p.fail(at, "%s is given twice", name)
	}
	*seen = append(*seen, name)
}

func (p *cursor) duration() time.Duration {
	at := p.skip()
	w := p.word("time")
	d, err := time.ParseDuration(w)
	if err != nil {
		p.fail(at, "%q is not a time since the start of the run, like 1.25s", w)
	}
	return d
}
