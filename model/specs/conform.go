package specs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// Conformity says how a history compares with a specification. A history is
// compared once for each part that the specification is about: a partition, the
// life of a producer.
type Conformity struct {
	// Misfits has the first event that fits no behaviour, of each part that has
	// one. None means that the history is a behaviour of the specification.
	Misfits []Misfit
	// Undecided says of parts that could not be compared, and why: too many
	// records, too many possible states.
	Undecided []string
	// Compared has the Seq of each event that was compared, of one part after the
	// other, as often as it shows a step. Width is the most states that were possible
	// at once.
	Compared []int64
	Width    int
	// Walked is how often each action was taken in one behaviour that the history
	// is, by "action" and, for specifications that sort their states into classes,
	// "action @ class".
	Walked map[string]int
}

// Misfit is an event that no behaviour of the specification has at its place.
type Misfit struct {
	Spec string
	// Of is the part: "learning.progress/0".
	Of string
	// Seq is the event, What says how it was read.
	Seq  int64
	What string
	// Before are states that were possible before it, a few of them.
	Before []string
	// Possible are the actions that were, with who could take them.
	Possible []string
}

// String returns the misfit as one line.
func (m Misfit) String() string {
	const most = 20
	possible := strings.Join(m.Possible[:min(len(m.Possible), most)], ", ")
	if more := len(m.Possible) - most; more > 0 {
		possible += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s of %s: event %d fits no behaviour (%s); before it: %s; possible: %s",
		m.Spec, m.Of, m.Seq, m.What, strings.Join(m.Before, ", or "), possible)
}

// add takes in what another part came to.
func (c *Conformity) add(o Conformity) {
	c.Misfits = append(c.Misfits, o.Misfits...)
	c.Undecided = append(c.Undecided, o.Undecided...)
	c.Compared = append(c.Compared, o.Compared...)
	c.Width = max(c.Width, o.Width)
	if c.Walked == nil {
		c.Walked = make(map[string]int)
	}
	for action, n := range o.Walked {
		c.Walked[action] += n
	}
}

// observation is what a history says of one step. A state before it fits if it has a
// step with one of the actions, by who, that fits; or if holds is set and says so:
// then nothing happened. The states after are the possible ones.
type observation[S comparable] struct {
	seq     int64 // of the event
	what    func() string
	who     int // check.Nobody for actions that nobody takes
	actions []string
	fits    func(before, after *S) bool // nil: every step with such an action does
	holds   func(s *S) bool
	// only is the part of Next that has the actions, to be fast; nil: all of Next.
	only func(c *check.Out[S], s *S)
}

// orHolds lets an observation be none also where also says so.
func (o *observation[S]) orHolds(also func(s *S) bool) {
	first := o.holds
	o.holds = func(s *S) bool { return first != nil && first(s) || also(s) }
}

// word is a part of a history, as a sequence of observations.
type word[S comparable] struct {
	of   string
	spec check.Spec[S] // without a Canon: the history knows who is who
	seen []observation[S]
	// internal says which steps no history shows: they may be taken before any
	// observation.
	internal func(action string) bool
	// inside is the part of Next that has those steps, to be fast; nil: all of Next.
	inside func(c *check.Out[S], s *S)
	// lazy says that internal steps can wait until an observation needs them: what
	// they make possible stays possible, and they take no step from others. Then
	// they are taken only where nothing fits without.
	lazy bool
	// normal changes a state into one that behaves alike; nil: none does.
	normal func(s *S)
	// full says that a state has no room for more: what comes next is not compared.
	// Nil: none is.
	full  func(s *S) bool
	show  func(s *S) string
	class func(s *S) string // of a state, for Conformity.Walked; nil: no classes
}

// mostPossible bounds the states that are possible at once.
const mostPossible = 4096

// mostShown bounds the states that a Misfit shows.
const mostShown = 3

// walk is a word while it is followed.
type walk[S comparable] struct {
	word[S]
	nodes    []node[S]
	possible []int // of the nodes: where the history can be
	index    map[S]int
}

// node is a state and how it was reached.
type node[S comparable] struct {
	state  S
	from   int // -1 for initial ones
	action string
}

// follow compares a word with its specification: it keeps every state in which the
// history can be.
func follow[S comparable](w word[S]) Conformity {
	k := walk[S]{word: w, index: make(map[S]int)}
	for _, s := range w.spec.Init {
		k.possible = append(k.possible, k.node(s, -1, ""))
	}
	var c Conformity
	for i := range w.seen {
		o := &w.seen[i]
		next, full := k.after(o)
		if full {
			c.Undecided = append(c.Undecided, fmt.Sprintf(
				"%s of %s: more than %d possible states at event %d",
				w.spec.Name, w.of, mostPossible, o.seq))
			return c
		}
		if len(next) == 0 {
			if k.full != nil && k.full(&k.nodes[k.possible[0]].state) {
				c.Undecided = append(c.Undecided, fmt.Sprintf(
					"%s of %s: a state has no room for more at event %d",
					w.spec.Name, w.of, o.seq))
				break
			}
			c.Misfits = append(c.Misfits, k.misfit(o))
			break
		}
		k.possible = next
		c.Compared = append(c.Compared, o.seq)
		c.Width = max(c.Width, len(next))
	}
	c.Walked = k.walked()
	return c
}

func (k *walk[S]) node(s S, from int, action string) int {
	k.nodes = append(k.nodes, node[S]{s, from, action})
	return len(k.nodes) - 1
}

// after returns where the history can be after an observation, and whether that was
// too much to find out.
func (k *walk[S]) after(o *observation[S]) (next []int, full bool) {
	if k.lazy {
		next = k.direct(k.possible, o)
		if len(next) > 0 {
			return next, false
		}
	}
	from, full := k.closed()
	if full {
		return nil, true
	}
	next = k.direct(from, o)
	return next, len(next) > mostPossible
}

// direct takes the steps that fit.
func (k *walk[S]) direct(from []int, o *observation[S]) []int {
	spec := k.spec
	if o.only != nil {
		spec.Next = o.only
	}
	var next []int
	clear(k.index)
	add := func(s S, at int, action string) {
		if k.normal != nil {
			k.normal(&s)
		}
		if !k.has(next, s) {
			next = append(next, k.node(s, at, action))
			k.note(next)
		}
	}
	for _, at := range from {
		s := k.nodes[at].state
		if o.holds != nil && o.holds(&s) {
			add(s, at, "")
		}
		if len(o.actions) == 0 {
			continue
		}
		for _, step := range check.Successors(spec, s) {
			if step.Who == o.who && slices.Contains(o.actions, step.Action) &&
				(o.fits == nil || o.fits(&s, &step.State)) {
				add(step.State, at, step.Action)
			}
		}
	}
	return next
}

// few states are faster to compare with than to hash.
const few = 4

// note puts the states of next into the index, once they are more than a few.
func (k *walk[S]) note(next []int) {
	switch n := len(next); {
	case n == few+1:
		for _, at := range next {
			k.index[k.nodes[at].state] = at
		}
	case n > few:
		k.index[k.nodes[next[n-1]].state] = next[n-1]
	}
}

// has reports whether a state is among those of next.
func (k *walk[S]) has(next []int, s S) bool {
	if len(next) > few {
		_, ok := k.index[s]
		return ok
	}
	for _, at := range next {
		if k.nodes[at].state == s {
			return true
		}
	}
	return false
}

// closed returns the possible states and those that internal steps lead to.
func (k *walk[S]) closed() (all []int, full bool) {
	clear(k.index)
	for _, at := range k.possible {
		k.index[k.nodes[at].state] = at
	}
	spec := k.spec
	if k.inside != nil {
		spec.Next = k.inside
	}
	all = slices.Clone(k.possible)
	for i := 0; i < len(all); i++ {
		s := k.nodes[all[i]].state
		for _, step := range check.Successors(spec, s) {
			if !k.internal(step.Action) {
				continue
			}
			if _, ok := k.index[step.State]; ok {
				continue
			}
			at := k.node(step.State, all[i], step.Action)
			k.index[step.State] = at
			if all = append(all, at); len(all) > mostPossible {
				return nil, true
			}
		}
	}
	return all, false
}

func (k *walk[S]) misfit(o *observation[S]) Misfit {
	m := Misfit{Spec: k.spec.Name, Of: k.of, Seq: o.seq, What: o.what()}
	for _, at := range k.possible[:min(len(k.possible), mostShown)] {
		m.Before = append(m.Before, k.show(&k.nodes[at].state))
	}
	for _, at := range k.possible {
		for _, step := range check.Successors(k.spec, k.nodes[at].state) {
			m.Possible = append(m.Possible, step.String())
		}
	}
	slices.Sort(m.Possible)
	m.Possible = slices.Compact(m.Possible)
	return m
}

// walked counts the actions of one behaviour that the history is.
func (k *walk[S]) walked() map[string]int {
	counts := make(map[string]int)
	for at := k.possible[0]; at >= 0; at = k.nodes[at].from {
		n := &k.nodes[at]
		if n.action == "" {
			continue
		}
		counts[n.action]++
		if k.class != nil {
			counts[atClass(n.action, k.class(&k.nodes[n.from].state))]++
		}
	}
	return counts
}
