package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// RerunSameBytes promises that a rerun changes nothing: all puts of one key below
// prefix that took effect store the same bytes. Only a conditional put may store
// more: the same lines, and further ones after them.
//
// It concludes that an object was overwritten with other or fewer records. Bytes
// are compared by digest, growth by the offset, kind and id of each line; where
// lines are not described, every other digest is broken. Puts count in the order
// in which they were called, since the answer to a paused process comes late; a
// put whose answer was never recorded, or is an error that hides what happened, is
// not seen. A delete between two puts changes nothing.
func RerunSameBytes(prefix string) Property {
	name := "rerun-same-bytes/" + prefix
	return Property{
		Name: name,
		Says: "A repeated put of a key below \"" + prefix + "\" stores the same bytes, " +
			"or, if conditional, the same lines and more.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkRerun(h, prefix, &f)
			return f.broken()
		},
		Holds:  text(rerunHolds, "KEY-A", prefix+"a", "KEY-B", prefix+"b"),
		Breaks: text(rerunBreaks, "KEY-A", prefix+"a"),
	}
}

const rerunHolds = `
1 1s landing/0 life 1 return put 1 unknown key=KEY-A digest=d1 [t/0 {@0 id=ev-1}]
2 2s landing/0 life 2 return put 1 done key=KEY-A digest=d1 [t/0 {@0 id=ev-1}]
3 3s landing/0 life 2 return putif 1 done key=KEY-B digest=d2 [t/0 {@1 id=ev-2}]
4 4s landing/0 life 2 return putif 2 done key=KEY-B digest=d3 [t/0 {@1 id=ev-2} {@2 id=ev-3}]
`

const rerunBreaks = `
1 1s landing/1 life 1 return put 1 done key=KEY-A digest=d1 [t/0 {@0 id=ev-1} {@1 id=ev-2}]
2 2s landing/0 life 1 return put 1 done key=KEY-A digest=d2 [t/0 {@0 id=ev-1}]
`

func checkRerun(h *model.History, prefix string, f *findings) {
	last := make(map[string]*model.Event)
	for _, s := range puts(h) {
		e := s.answer
		if !strings.HasPrefix(e.Key, prefix) {
			continue
		}
		before := last[e.Key]
		last[e.Key] = e
		if before == nil || before.Digest == e.Digest {
			continue
		}
		was, is := countLines(before), countLines(e)
		grown := was > 0 && is > was && grows(before, e)
		switch {
		case grown && e.Op == "putif":
		case grown:
			f.add(fmt.Sprintf("%s put more under %s without a condition: lines %d over %d",
				e.Proc, e.Key, is, was), before.Seq, s.ask.Seq, e.Seq)
		default:
			f.add(fmt.Sprintf("%s put other bytes under %s: lines %d over %d, digest %s over %s",
				e.Proc, e.Key, is, was, e.Digest, before.Digest), before.Seq, s.ask.Seq, e.Seq)
		}
	}
}

func countLines(e *model.Event) int {
	n := 0
	for i := range e.Parts {
		n += len(e.Parts[i].Records)
	}
	return n
}

// grows reports whether every part of before begins the same part of after.
func grows(before, after *model.Event) bool {
	for i := range before.Parts {
		b := &before.Parts[i]
		begun := false
		for j := range after.Parts {
			a := &after.Parts[j]
			if a.Topic == b.Topic && a.Partition == b.Partition {
				begun = begins(b.Records, a.Records)
			}
		}
		if !begun {
			return false
		}
	}
	return true
}

func begins(short, long []model.Record) bool {
	if len(short) > len(long) {
		return false
	}
	for i := range short {
		s, l := &short[i], &long[i]
		if s.Offset != l.Offset || s.Kind != l.Kind || s.ID != l.ID {
			return false
		}
	}
	return true
}
