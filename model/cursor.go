package model

import (
	"errors"
	"fmt"
	"strconv"
)

// fail keeps the first error. The column is at, counted from 0.
func (p *cursor) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("column %d: %s", at+1, fmt.Sprintf(format, args...))
	}
	p.i = len(p.s)
}

// found says what stands at a place, for an error.
func (p *cursor) found(at int) string {
	if at >= len(p.s) {
		return "the end of the line"
	}
	const most = 20
	return strconv.Quote(p.s[at:min(len(p.s), at+most)])
}

// skip moves over blanks and returns the place after them.
func (p *cursor) skip() int {
	for p.i < len(p.s) && isBlank(p.s[p.i]) {
		p.i++
	}
	return p.i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// done moves over blanks and reports whether the line ends there.
func (p *cursor) done() bool { return p.skip() == len(p.s) }

// closed reports whether a list that was opened at open ends here.
func (p *cursor) closed(open int, with byte) bool {
	if p.done() {
		p.fail(open, "%q is not closed by %q: the line is cut off", p.s[open], with)
		return true
	}
	if p.s[p.i] != with {
		return false
	}
	p.i++
	p.blank()
	return true
}

// blank demands that the word before it ends here.
func (p *cursor) blank() {
	if p.i == len(p.s) || isBlank(p.s[p.i]) || p.s[p.i] == ']' || p.s[p.i] == '}' {
		return
	}
	p.fail(p.i, "%s where a blank is wanted", p.found(p.i))
}

func (p *cursor) expect(c byte) {
	if p.i == len(p.s) || p.s[p.i] != c {
		p.fail(p.i, "%s where %q is wanted", p.found(p.i), c)
		return
	}
	p.i++
}

// literal reads the word w where it stands next.
func (p *cursor) literal(w string) bool {
	at := p.skip()
	if p.bare(false) == w && p.i < len(p.s) && isBlank(p.s[p.i]) {
		return true
	}
	p.i = at
	return false
}

// atWord reports whether a word comes next that is no field.
func (p *cursor) atWord() bool {
	at := p.skip()
	if at == len(p.s) || p.s[at] == '"' {
		return at < len(p.s)
	}
	w := p.bare(false)
	field := p.i < len(p.s) && p.s[p.i] == '='
	p.i = at
	return w != "" && !field
}

func (p *cursor) atNumber() bool {
	at := p.skip()
	return at < len(p.s) && isNumeric(p.s[at])
}

func isNumeric(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

// name reads a word whose place may hold - for none.
func (p *cursor) name(what string) string {
	at := p.skip()
	w := p.word(what)
	if w == "-" && p.s[at] != '"' {
		return ""
	}
	return w
}

// word reads a bare or quoted word and its end.
func (p *cursor) word(what string) string {
	p.skip()
	w := p.loose(what, false)
	p.blank()
	return w
}

// topic reads a word that a slash follows.
func (p *cursor) topic() string {
	p.skip()
	return p.loose("topic", true)
}

func (p *cursor) loose(what string, topic bool) string {
	at := p.i
	if at < len(p.s) && p.s[at] == '"' {
		quoted, err := strconv.QuotedPrefix(p.s[at:])
		if err != nil {
			p.fail(at, "%s: quotes that do not close, or a bad escape in them", what)
			return ""
		}
		w, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
		p.i += len(quoted)
		return w
	}
	w := p.bare(topic)
	if w == "" {
		p.fail(at, "%s where the %s is wanted", p.found(at), what)
	}
	return w
}

func (p *cursor) bare(topic bool) string {
	at := p.i
	for p.i < len(p.s) && bareByte[p.s[p.i]] && !(topic && p.s[p.i] == '/') {
		p.i++
	}
	return p.s[at:p.i]
}

// value reads a number and its end.
func (p *cursor) value(what string, bits int) int64 {
	n := p.number(what, bits)
	p.blank()
	return n
}

func (p *cursor) number(what string, bits int) int64 {
	at := p.skip()
	for p.i < len(p.s) && isNumeric(p.s[p.i]) {
		p.i++
	}
	n, err := strconv.ParseInt(p.s[at:p.i], 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.fail(at, "%s %s does not fit in %d bits", what, p.s[at:p.i], bits)
	case err != nil:
		p.fail(at, "%s where the number of %s is wanted", p.found(at), what)
	}
	return n
}
