package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest line that Read takes, in bytes, its newline included:
// far beyond any event, and a bound for what a damaged file can cost.
const maxLine = 16 << 20

// errCut is what Read says of a last line that may be half of what was written.
var errCut = errors.New("the last line has no newline, so it was cut off:" +
	" take the whole file, or end the line if it was written by hand")

// Read reads a history in the form that [History.WriteText] or
// [History.WriteJSONL] wrote; the first byte of the first event
// says which. Blank lines are skipped, and in the text form lines that start
// with # too.
//
// Read refuses input that is empty, cut off within a line, or damaged, events
// that are not numbered 1, 2, 3..., and lines over 16 MiB. The error is one line
// that names the line and, where there is one, the column, both from 1; it does
// not name the file, which only the caller knows. An error of r is wrapped.
func Read(r io.Reader) (*History, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(wholeLine)
	h := new(History)
	json, line := false, 0
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if skipped(text, json) {
			continue
		}
		if h.Len() == 0 {
			var err error
			if json, err = isJSON(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		if err := h.read(text, json); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d is over %d MiB: this is no history", line+1, maxLine>>20)
	case errors.Is(err, errCut):
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	case err != nil:
		return nil, fmt.Errorf("reading a history at line %d: %w", line+1, err)
	case h.Len() == 0:
		return nil, errors.New("the history is empty: it holds no event," +
			" so the run was not written or died before its first event")
	}
	return h, nil
}

// read appends the event of one line.
func (h *History) read(text []byte, json bool) error {
	var e Event
	var err error
	if json {
		e, err = parseJSON(text)
	} else {
		e, err = ParseText(strings.TrimRight(string(text), "\r"))
	}
	if err != nil {
		return err
	}
	if want := int64(h.Len()) + 1; e.Seq != want {
		return fmt.Errorf("seq %d where %d must follow: events are missing or out of order",
			e.Seq, want)
	}
	h.Append(e)
	return nil
}

// skipped reports whether a line holds nothing. JSON has no comments, but a
// file that starts with one has not said yet that it is JSON.
func skipped(text []byte, json bool) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || !json && text[0] == '#'
}

// isJSON tells the forms apart by the first byte of the first event.
func isJSON(text []byte) (bool, error) {
	column := len(text) - len(bytes.TrimLeft(text, " \t")) + 1
	switch first := text[column-1]; {
	case first == '{':
		return true, nil
	case isNumeric(first):
		return false, nil
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		return false, errors.New("column 1: this is compressed with gzip: unpack it first")
	default:
		return false, fmt.Errorf("column %d: byte 0x%02x starts no history:"+
			" a number (text form) or { (JSON Lines) does", column, first)
	}
}

// wholeLine splits off one line, and takes no line that does not end.
func wholeLine(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, errCut
	}
	return 0, nil, nil
}
