package props

import (
	"iter"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// note is one record that a note of a process speaks of.
type note struct {
	event     *model.Event
	topic     string
	partition int32
	record    *model.Record
}

// about reports whether a note can be about a topic: a note of an application may name
// none.
func (n note) about(topic string) bool { return n.topic == "" || n.topic == topic }

// notes yields what the notes with one of the ops speak of, in the order of the
// history.
func notes(h *model.History, ops ...string) iter.Seq[note] {
	return func(yield func(note) bool) {
		events := h.Events()
		for i := range events {
			e := &events[i]
			if e.Kind != model.Note || !slices.Contains(ops, e.Op) {
				continue
			}
			for j := range e.Parts {
				p := &e.Parts[j]
				for k := range p.Records {
					if !yield(note{e, p.Topic, p.Partition, &p.Records[k]}) {
						return
					}
				}
			}
		}
	}
}
