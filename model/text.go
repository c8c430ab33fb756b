package model

import (
	"strconv"
	"time"
)

// The text form of a history is one line per event:
//
//	seq at proc [life n] kind [op [nth] [outcome]] {field=value} {[part]} {(of n)} [note=...]
//	part:   [topic/partition @offset end=n stable=n seq=n err=name {record}]
//	record: {@offset kind id=... key=... digest=... class=... cell=...
//	         from=topic/partition@offset producer=n}, in one line
//
// A word stands bare where it is made of letters, digits and ._-/:@+%,~#* and
// in Go's double quotes otherwise, so a line never holds a control byte, and
// `grep ' group=landing '` finds what it says. A lone - is "none": the world as
// process, or no op where something follows that needs the place.
//
// What is left out has one reading. Offset, end, stable and sequence of a part
// and the offset of a record: -1. Everything else, the generation too: zero. So
// gen=-1 ("none given") is printed, and so is the offset 0. An epoch is printed
// wherever there is a producer. Empty and nil lists are the same.

// AppendText appends the one-line text form of e to b, without a newline, and
// returns the result. The same event gives the same bytes, always.
func AppendText(b []byte, e *Event) []byte {
	b = strconv.AppendInt(b, e.Seq, 10)
	b = appendSeconds(append(b, ' '), e.At)
	b = appendName(append(b, ' '), e.Proc)
	if e.Life != 0 {
		b = strconv.AppendInt(append(b, " life "...), int64(e.Life), 10)
	}
	b = appendName(append(b, ' '), string(e.Kind))
	if e.Op != "" || e.Nth != 0 || e.Outcome != NoOutcome {
		b = appendName(append(b, ' '), e.Op)
	}
	if e.Nth != 0 {
		b = strconv.AppendInt(append(b, ' '), int64(e.Nth), 10)
	}
	if e.Outcome != NoOutcome {
		b = appendWord(append(b, ' '), string(e.Outcome), false)
	}
	b = appendFields(b, e)
	for i := range e.Parts {
		b = appendPart(append(b, ' '), &e.Parts[i])
	}
	for i := range e.Counts {
		b = appendWord(append(b, " ("...), e.Counts[i].Of, false)
		b = append(strconv.AppendInt(append(b, ' '), e.Counts[i].N, 10), ')')
	}
	return appendString(b, "note", e.Note)
}

func appendFields(b []byte, e *Event) []byte {
	b = appendInt(b, "of", e.Of, 0)
	b = appendString(b, "err", e.Err)
	b = appendInt(b, "producer", e.Producer, 0)
	if e.Producer != 0 || e.Epoch != 0 {
		b = strconv.AppendInt(append(b, " epoch="...), int64(e.Epoch), 10)
	}
	b = appendString(b, "group", e.Group)
	b = appendString(b, "member", e.Member)
	b = appendInt(b, "gen", int64(e.Generation), 0)
	b = appendString(b, "txn", e.TxnID)
	b = appendString(b, "key", e.Key)
	b = appendString(b, "digest", e.Digest)
	b = appendString(b, "etag", e.ETag)
	b = appendInt(b, "bytes", e.Bytes, 0)
	return appendString(b, "lsn", e.LSN)
}

func appendPart(b []byte, p *Part) []byte {
	b = appendWord(append(b, '['), p.Topic, true)
	b = strconv.AppendInt(append(b, '/'), int64(p.Partition), 10)
	if p.Offset != -1 {
		b = strconv.AppendInt(append(b, " @"...), p.Offset, 10)
	}
	b = appendInt(b, "end", p.End, -1)
	b = appendInt(b, "stable", p.Stable, -1)
	b = appendInt(b, "seq", int64(p.Sequence), -1)
	b = appendString(b, "err", p.Err)
	for i := range p.Records {
		b = appendRecord(append(b, ' '), &p.Records[i])
	}
	return append(b, ']')
}

func appendRecord(b []byte, r *Record) []byte {
	b = append(b, '{')
	inside := len(b)
	if r.Offset != -1 {
		b = strconv.AppendInt(append(b, " @"...), r.Offset, 10)
	}
	if r.Kind != Data {
		b = appendWord(append(b, ' '), string(r.Kind), false)
	}
	b = appendString(b, "id", r.ID)
	b = appendString(b, "key", r.Key)
	b = appendString(b, "digest", r.Digest)
	b = appendString(b, "class", r.Class)
	b = appendString(b, "cell", r.Cell)
	if r.From != (Position{}) {
		b = appendWord(append(b, " from="...), r.From.Topic, true)
		b = strconv.AppendInt(append(b, '/'), int64(r.From.Partition), 10)
		b = strconv.AppendInt(append(b, '@'), r.From.Offset, 10)
	}
	b = appendInt(b, "producer", r.Producer, 0)
	if len(b) > inside { // the first item needs no blank before it
		b = append(b[:inside], b[inside+1:]...)
	}
	return append(b, '}')
}

func appendString(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	b = append(append(append(b, ' '), name...), '=')
	return appendWord(b, v, false)
}

func appendInt(b []byte, name string, v, none int64) []byte {
	if v == none {
		return b
	}
	b = append(append(append(b, ' '), name...), '=')
	return strconv.AppendInt(b, v, 10)
}

// appendName appends a word whose place cannot stay empty.
func appendName(b []byte, v string) []byte {
	if v == "" {
		return append(b, '-')
	}
	return appendWord(b, v, false)
}

// appendWord appends v, bare where that is clear. A topic is followed by a
// slash, so it is quoted where it holds one.
func appendWord(b []byte, v string, topic bool) []byte {
	if v == "" || v == "-" {
		return strconv.AppendQuote(b, v)
	}
	for i := range len(v) {
		if !bareByte[v[i]] || topic && v[i] == '/' {
			return strconv.AppendQuote(b, v)
		}
	}
	return append(b, v...)
}

// bareByte holds the bytes that need no quotes.
var bareByte = func() (t [256]bool) {
	const bare = "abcdefghijklmnopqrstuvwxyz" +
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+%,~#*"
	for i := range len(bare) {
		t[bare[i]] = true
	}
	return t
}()

// appendSeconds appends d in seconds, exact to the nanosecond. It always uses
// seconds, where Duration.String changes its unit, so that columns of times
// compare at a glance and in awk.
func appendSeconds(b []byte, d time.Duration) []byte {
	ns := uint64(d)
	if d < 0 {
		b, ns = append(b, '-'), -ns
	}
	const second = uint64(time.Second)
	b = strconv.AppendUint(b, ns/second, 10)
	if rest := ns % second; rest != 0 {
		b = append(b, '.')
		for unit := second / 10; rest != 0; unit /= 10 {
			b = append(b, '0'+byte(rest/unit))
			rest %= unit
		}
	}
	return append(b, 's')
}
