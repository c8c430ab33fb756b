package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// flushAt is how many bytes are gathered before one call of Write.
const flushAt = 64 << 10

// WriteText writes the history in its text form, one event per line: the form
// to read, to grep and to compare. [Read] reads it back. It refuses an event
// that Read would refuse, and wraps an error of w; part of the history may be
// written by then.
func (h *History) WriteText(w io.Writer) error {
	return h.write(w, func(b *bytes.Buffer, e *Event) error {
		b.Write(AppendText(b.AvailableBuffer(), e))
		return b.WriteByte('\n')
	})
}

// WriteJSONL writes the history as JSON Lines, one event per line, for other
// programs. Names are lowercase with underscores and do not change; at_ns is a
// number of nanoseconds. What is left out is -1 for the offset, end, stable and
// sequence of a part and the offset of a record, and zero for everything else. A
// string whose bytes are not UTF-8 is {"base64": "..."}. Errors are those of
// [History.WriteText].
func (h *History) WriteJSONL(w io.Writer) error {
	return h.write(w, func(b *bytes.Buffer, e *Event) error {
		lines := json.NewEncoder(b)
		lines.SetEscapeHTML(false)
		return lines.Encode(toJSON(e))
	})
}

func (h *History) write(w io.Writer, line func(*bytes.Buffer, *Event) error) error {
	var b bytes.Buffer
	for i := range h.events {
		e := &h.events[i]
		err := e.check()
		before := b.Len()
		if err == nil {
			err = line(&b, e)
		}
		if n := b.Len() - before; err == nil && n > maxLine {
			err = fmt.Errorf("%d bytes on one line, more than %d MiB", n, maxLine>>20)
		}
		if err != nil {
			return fmt.Errorf("event %d cannot be written: %w", e.Seq, err)
		}
		if b.Len() < flushAt && i < len(h.events)-1 {
			continue
		}
		if _, err := b.WriteTo(w); err != nil {
			return fmt.Errorf("writing a history: %w", err)
		}
	}
	return nil
}
