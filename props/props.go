package props

import "github.com/hopcheck/hopcheck/model"

// Property is a promise over a history.
type Property struct {
	// Name is the promise and what it is about: "no-loss/learning.progress".
	Name string
	// Says is the promise as one sentence, printed when it is broken.
	Says string
	// Check returns every way in which the history breaks the promise, in the
	// order of their first witness; none means that it held. It must not change
	// the history, and depends on nothing else.
	Check func(h *model.History) []Broken
	// Holds and Breaks are two small histories in text form, one on which the
	// promise holds and one that breaks it: documentation and test.
	Holds, Breaks string
}

// Broken is one way in which a promise was broken: a value, not an error.
type Broken struct {
	// Promise is the name of the property.
	Promise string
	// Witness is one line that says what was seen: names, offsets, counts.
	Witness string
	// Seqs are the events that show it, ascending; they may be none when what is
	// missing is the point.
	Seqs []int64
}

// Sometimes is a thing that a campaign must have seen at least once, so that no
// promise holds only because nothing happened.
type Sometimes struct {
	Name string
	// Says is the thing as one sentence.
	Says string
	// Seen reports whether the history shows it.
	Seen func(h *model.History) bool
}

// Evidence is something that a campaign counts, so that a verdict comes with what
// it rests on: repeats that were absorbed, records that were rejected.
type Evidence struct {
	Name string
	// Count returns how often the history shows it.
	Count func(h *model.History) int
}

// Judge checks every property against h, in the order given.
func Judge(h *model.History, all []Property) []Broken {
	var broken []Broken
	for _, p := range all {
		for _, b := range p.Check(h) {
			b.Promise = p.Name
			broken = append(broken, b)
		}
	}
	return broken
}
