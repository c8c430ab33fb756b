package schedule

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on a schedule file.
const (
	MaxFaults = 1000    // faults
	MaxLine   = 1024    // bytes of a line
	MaxFile   = 1 << 20 // bytes of the whole
)

// ParseError says what is wrong with a schedule, where, and what would be right.
type ParseError struct {
	File   string // set by [Load]
	Line   int    // from 1; 0: the whole input
	Column int    // byte, from 1; 0: the whole line
	Msg    string // one line
}

// Error returns "FILE:LINE:COLUMN: message" for a file and
// "line LINE, column COLUMN: message" otherwise, without the parts not known.
func (e *ParseError) Error() string {
	var where string
	switch {
	case e.File != "" && e.Line > 0 && e.Column > 0:
		where = fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	case e.File != "" && e.Line > 0:
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	case e.File != "":
		where = e.File + ": "
	case e.Line > 0 && e.Column > 0:
		where = fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	case e.Line > 0:
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	return where + e.Msg
}

// Parse reads a schedule. Blank lines and comments are allowed and not kept; the
// header lines (world NAME, mutant NAME, seed N, digest HEX16) come first, in any
// order, mutant and digest may be missing. The last line must end, too: without
// that, "Produce 12" cut short is "Produce 1". Errors of the text are a
// [*ParseError]; others are those of r.
func Parse(r io.Reader) (Schedule, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return Schedule{}, fmt.Errorf("reading a schedule: %w", err)
	}
	if len(text) > MaxFile {
		return Schedule{}, &ParseError{Msg: fmt.Sprintf(
			"more than %d bytes: this is no schedule", MaxFile)}
	}
	p := parser{seen: map[string]int{}}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if line == "" { // after the last line end, or no input at all
			continue
		}
		if err := p.line(i+1, line); err != nil {
			err.Line = i + 1
			return Schedule{}, err
		}
	}
	if err := p.complete(); err != nil {
		return Schedule{}, err
	}
	return p.s, nil
}

// ParseFault reads one fault, the text of one line of a schedule. Errors are a
// [*ParseError] without a line number.
func ParseFault(line string) (Fault, error) {
	if err := checkText(line); err != nil {
		return nil, err
	}
	w := newWords(line)
	if len(w.words) == 0 {
		return nil, &ParseError{Msg: "no fault in an empty line; " + verbsThere()}
	}
	f, err := parseFault(w)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// MustFault is [ParseFault] for lines that are written in a program. It panics on
// an error.
func MustFault(line string) Fault {
	f, err := ParseFault(line)
	if err != nil {
		panic(fmt.Sprintf("schedule: %q: %v", line, err))
	}
	return f
}

type parser struct {
	s    Schedule
	seen map[string]int // header -> line
}

func (p *parser) line(number int, line string) *ParseError {
	if err := checkText(line); err != nil {
		return err
	}
	if !strings.HasSuffix(line, "\n") {
		return &ParseError{Msg: "the last line does not end: the file was cut short " +
			"(if not, add a line end)"}
	}
	w := newWords(line)
	if len(w.words) == 0 {
		return nil
	}
	if slices.Contains(headers, w.words[0]) {
		return p.header(number, w)
	}
	if p.seen["world"] == 0 {
		msg := "the first line must be: world NAME"
		if _, ok := verb(w.words[0]); !ok {
			msg = quote(w.words[0]) + DidYouMean(w.words[0], headers) +
				" begins no schedule; " + msg
		}
		return &ParseError{Column: w.cols[0], Msg: msg}
	}
	f, err := parseFault(w)
	if err != nil {
		return err
	}
	if len(p.s.Faults) == MaxFaults {
		return &ParseError{Msg: fmt.Sprintf("more than %d faults", MaxFaults)}
	}
	if slices.Contains(p.s.Faults, f) {
		return &ParseError{Msg: "the same fault stands twice: " + f.String()}
	}
	p.s.Faults = append(p.s.Faults, f)
	return nil
}

func (p *parser) header(number int, w *Words) *ParseError {
	name := w.words[0]
	w.next = 1
	if first := p.seen[name]; first > 0 {
		return &ParseError{Column: w.cols[0],
			Msg: fmt.Sprintf("a second %s line; the first is line %d", name, first)}
	}
	if len(p.s.Faults) > 0 {
		return &ParseError{Column: w.cols[0],
			Msg: "header lines stand before the first fault: move " + name + " up"}
	}
	p.seen[name] = number
	switch name {
	case "world":
		w.usage = "world NAME"
		p.s.World = w.Name("the name of a world")
	case "mutant":
		w.usage = "mutant NAME"
		p.s.Mutant = w.Name("the name of a mutant")
	case "seed":
		w.usage = "seed N"
		p.s.Seed = w.seed()
	case "digest":
		w.usage = "digest HEX16"
		p.s.Digest = w.digest()
	}
	w.end()
	return w.err
}

func (p *parser) complete() *ParseError {
	switch {
	case len(p.seen) == 0:
		return &ParseError{Msg: "the schedule is empty; it begins with: world NAME"}
	case p.seen["world"] == 0:
		return &ParseError{Msg: "no world line; a schedule begins with: world NAME"}
	case p.seen["seed"] == 0:
		return &ParseError{Msg: "no seed line; after the world write: seed N"}
	}
	return nil
}

func parseFault(w *Words) (Fault, *ParseError) {
	name := w.words[0]
	w.next = 1
	v, ok := verb(name)
	if !ok {
		return nil, &ParseError{Column: w.cols[0], Msg: fmt.Sprintf("no fault begins with %s%s; %s",
			quote(name), DidYouMean(name, append(VerbNames(), headers...)), verbsThere())}
	}
	w.usage = v.Usage
	f := v.Parse(w)
	w.end()
	if w.err != nil {
		return nil, w.err
	}
	return f, nil
}

func verbsThere() string { return "write one of " + strings.Join(VerbNames(), ", ") }

// checkText refuses what no editor made: one clear line instead of a screenful of
// what a picture looks like as words.
func checkText(line string) *ParseError {
	if len(line) > MaxLine {
		return &ParseError{Msg: fmt.Sprintf("more than %d bytes in a line: this is no schedule",
			MaxLine)}
	}
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		broken := r == utf8.RuneError && size == 1
		if broken || (unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r)) {
			return &ParseError{Column: i + 1, Msg: fmt.Sprintf(
				"byte 0x%02x is not text: this is no schedule", line[i])}
		}
	}
	return nil
}

func (w *Words) seed() uint64 {
	s := w.word("a seed")
	n, err := strconv.ParseUint(s, 10, 64)
	if w.err == nil && (err != nil || strconv.FormatUint(n, 10) != s) {
		w.wrong(s, "a whole number from 0 to 18446744073709551615", "")
	}
	return n
}

func (w *Words) digest() string {
	const size = 16
	s := w.word("a digest")
	if w.err == nil && (len(s) != size || strings.Trim(s, "0123456789abcdef") != "") {
		w.wrong(s, fmt.Sprintf("%d hex digits in lower case", size), "")
	}
	return w.ifFine(s)
}

// inFile adds the name of a file to the errors of Parse.
func inFile(path string, err error) error {
	var pe *ParseError
	if errors.As(err, &pe) {
		pe.File = path
	}
	return err
}
