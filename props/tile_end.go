package props

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// tileEnd is the sink log of a tile as the audit found it.
type tileEnd struct {
	state   []*model.Object // what a reader goes by, in order of batch
	last    int64           // the last batch; -1: none
	missing []int64         // batches that a reader would miss
	files   []endFile       // each once, in the order of the log
}

// endFile is a file that the sink log names.
type endFile struct {
	key    string
	size   int64         // as the sink log says it, in bytes
	by     *model.Object // of the sink log
	object *model.Object // nil where it is not in the store
}

// tileEnd returns the sink log below prefix, which shall go up to batch last at least.
func (l *ledger) tileEnd(prefix string, last int64) tileEnd {
	type entry struct {
		tileName
		object *model.Object
	}
	var entries []entry
	base, end := int64(-1), tileEnd{last: last}
	for i := range l.audit.Objects {
		o := &l.audit.Objects[i]
		name := tileNameOf(prefix, o.Key)
		if name.log != tileSink {
			continue
		}
		entries = append(entries, entry{name, o})
		end.last = max(end.last, name.batch)
		if name.compact {
			base = max(base, name.batch)
		}
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !e.visible(base) })
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.batch, b.batch) })
	next := max(base, 0)
	named := make(map[string]bool)
	for _, e := range entries {
		for ; next < e.batch; next++ {
			end.missing = append(end.missing, next)
		}
		next = e.batch + 1
		end.state = append(end.state, e.object)
		for _, c := range e.object.Counts {
			if !named[c.Of] {
				named[c.Of] = true
				end.files = append(end.files, endFile{c.Of, c.N, e.object, l.object(c.Of)})
			}
		}
	}
	for ; next <= end.last; next++ {
		end.missing = append(end.missing, next)
	}
	return end
}

// object returns what the audit found under a key, nil for nothing.
func (l *ledger) object(key string) *model.Object {
	i, ok := slices.BinarySearchFunc(l.audit.Objects, key,
		func(o model.Object, key string) int { return strings.Compare(o.Key, key) })
	if !ok {
		return nil
	}
	return &l.audit.Objects[i]
}

// seqs are the events that show the sink log.
func (e *tileEnd) seqs() []int64 {
	var seqs []int64
	for _, o := range e.state {
		seqs = append(seqs, o.Seq)
	}
	return seqs
}
