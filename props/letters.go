package props

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// letter is one dead letter: a record of the dead-letter topic that says where it
// came from.
type letter struct {
	from      model.Position
	partition int32 // of the dead-letter topic
	offset    int64
	seq       int64 // of the event that shows it
}

// letters are dead letters by origin.
type letters []letter

// letters returns the dead letters that are in the log of dlq, and those that
// retention took from it: these are known from the replies to their Produce. An
// empty dlq has none.
func (l *ledger) letters(dlq string) letters {
	if dlq == "" {
		return nil
	}
	var all letters
	logs := l.logs(dlq)
	trimmed := false
	for i := range logs {
		log := &logs[i]
		trimmed = trimmed || log.start > 0
		for j := range log.records {
			r := &log.records[j]
			if r.Kind == model.Data && r.From != (model.Position{}) {
				all = append(all, letter{r.From, log.partition, r.Offset, log.seq})
			}
		}
	}
	if trimmed {
		for a := range appends(l.h, dlq) {
			log := logOf(logs, a.part.Partition)
			if log != nil && a.offset < log.start && a.record.From != (model.Position{}) {
				all = append(all, letter{a.record.From, log.partition, a.offset, a.event.Seq})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b letter) int { return comparePositions(a.from, b.from) })
	return all
}

// of returns a dead letter of the record at p, nil where there is none.
func (l letters) of(p model.Position) *letter {
	i, ok := slices.BinarySearchFunc(l, p, func(x letter, p model.Position) int {
		return comparePositions(x.from, p)
	})
	if !ok {
		return nil
	}
	return &l[i]
}

func comparePositions(a, b model.Position) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition),
		cmp.Compare(a.Offset, b.Offset))
}

// appended is one record that a broker said it appended.
type appended struct {
	event  *model.Event
	part   *model.Part
	record *model.Record
	offset int64
}

// appends yields the records of a topic that Produce replies say were appended,
// whoever got to see the reply. One record that was sent twice under one sequence
// number comes twice.
func appends(h *model.History, topic string) iter.Seq[appended] {
	return func(yield func(appended) bool) {
		events := h.Events()
		for i := range events {
			e := &events[i]
			if e.Kind != model.Reply || e.Op != "Produce" || e.Err != "" {
				continue
			}
			for j := range e.Parts {
				p := &e.Parts[j]
				if p.Topic != topic || p.Err != "" {
					continue
				}
				for k := range p.Records {
					r := &p.Records[k]
					if r.Offset >= 0 && !yield(appended{e, p, r, r.Offset}) {
						return
					}
				}
			}
		}
	}
}
