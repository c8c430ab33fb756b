package specs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// Entry is a registered specification, whatever its states are. Its functions may
// be called from several goroutines.
type Entry struct {
	// Name is as people write it, Says is one line.
	Name, Says string
	// Promises are the sentences that its invariants stand for.
	Promises []string
	// Params bound what is explored, in the order in which they are shown.
	Params []Param
	// Bugs are the mistakes that it can be given.
	Bugs []Bug

	// Check explores it. The values of set stand in the place of defaults; bug is
	// the name of a Bug or "". An error says what is wrong with set or bug.
	Check func(set map[string]int, bug string, o check.Options) (Report, error)
	// Graph writes every state and step for other programs, as Check has them. More
	// than bound states are an error.
	Graph func(w io.Writer, g GraphOptions) error
	// Untold are actions that no history is read as, and that coverage leaves out: a
	// history has others in their place.
	Untold []string
	// Known explores the first states of it, bound of them, and says which steps there
	// are. The values of set stand in the place of small ones.
	Known func(set map[string]int, bound int) (Known, error)
	// Conform says whether a history is a behaviour of the specification without
	// bugs. Nil where no history can be compared with it.
	Conform func(h *model.History, at Topology) Conformity
}

// Param is a number that bounds a specification.
type Param struct {
	Name, Says string
	// Default is the value of a full check, Small that of a fast test. The value is
	// from Min to Max.
	Default, Small, Min, Max int
}

// Bug is a mistake that a specification can be given.
type Bug struct {
	Name, Says string
	// Mutant names the program in sim/mutants that makes the same mistake; "": none.
	Mutant string
	// Set holds parameters that its counterexample needs to be other than the
	// defaults, such as block naming. What a caller sets goes before it.
	Set map[string]int
}

// Format is how a graph is written.
type Format string

// The formats of a graph.
const (
	DOT       Format = "dot" // Graphviz
	Aldebaran Format = "aut" // CADP, mCRL2
	JSON      Format = "json"
)

// GraphOptions says what graph to write.
type GraphOptions struct {
	Set    map[string]int
	Bug    string
	Bound  int // the most states
	Format Format
}

// Topology says where in a history a hop's traffic is. What a specification has no
// use for stays zero.
type Topology struct {
	// Topic is what the hop reads, or writes where it reads none. Out is where it
	// writes to, DLQ where rejects go, Group whose offsets it commits.
	Topic, Out, DLQ, Group string
	// Proc is the name of the hop's process without its replica: "landing".
	Proc string
	// Partitions is how many Topic has.
	Partitions int32
	// Block is how many offsets an object holds; 0 means one object per offset.
	Block int
	// Compact is how many batches it takes for a tile's sink log to be compacted.
	Compact int
	// Prefix is where in the store or the database the hop's things are.
	Prefix string
}

// Values are the parameters of one check, complete and within their bounds.
type Values map[string]int

// protocol is a specification over states S on its way into the registry.
type protocol[S comparable] struct {
	Entry
	// numbered says that NAME-7 means 7 as the value of the first parameter.
	numbered bool
	// build makes the specification; bug is "" or one of Bugs.
	build func(v Values, bug string) check.Spec[S]
	// say tells a step in the words of the hop; nil is its action and who did it.
	say func(before *S, step *check.Step[S]) string
	// show says a state in one short line; nil is fmt's %+v.
	show func(s *S) string
	// class sorts states, for coverage; nil: all are alike.
	class func(s *S) string
	// lift makes a schedule of a counterexample; nil: nobody knows how.
	lift func(bug string, trace []check.Step[S]) lifted
}

var entries = map[string]*registered{}

type registered struct {
	Entry
	numbered bool
}

// register is called from init functions; a name that is taken panics.
func register[S comparable](p protocol[S]) {
	e := p.Entry
	if entries[e.Name] != nil || e.Name == "" {
		panic(fmt.Sprintf("specs: specification %q is registered twice, or has no name", e.Name))
	}
	if p.show == nil {
		p.show = func(s *S) string { return fmt.Sprintf("%+v", *s) }
	}
	if p.say == nil {
		p.say = func(_ *S, step *check.Step[S]) string { return step.String() }
	}
	e.Check = func(set map[string]int, bug string, o check.Options) (Report, error) {
		v, b, err := e.values(set, bug)
		if err != nil {
			return Report{}, err
		}
		return p.report(v, b, check.Check(p.build(v, b.Name), o)), nil
	}
	e.Graph = func(w io.Writer, g GraphOptions) error {
		v, b, err := e.values(g.Set, g.Bug)
		if err != nil {
			return err
		}
		return p.graph(w, g, p.build(v, b.Name))
	}
	e.Known = func(set map[string]int, bound int) (Known, error) {
		small := e.Small()
		maps.Copy(small, set)
		v, _, err := e.values(small, "")
		if err != nil {
			return Known{}, err
		}
		return p.known(p.build(v, ""), bound).without(e.Untold), nil
	}
	entries[e.Name] = &registered{e, p.numbered}
}

func (p protocol[S]) graph(w io.Writer, g GraphOptions, spec check.Spec[S]) error {
	formats := []string{string(DOT), string(Aldebaran), string(JSON)}
	if !slices.Contains(formats, string(g.Format)) {
		return fmt.Errorf("there is no graph format %q%s; there are %s", g.Format,
			didYouMean(string(g.Format), formats), strings.Join(formats, ", "))
	}
	graph, err := check.Reachable(spec, g.Bound)
	if err != nil {
		return err
	}
	switch g.Format {
	case DOT:
		return graph.WriteDOT(w, p.show)
	case JSON:
		return graph.WriteJSON(w, p.show)
	}
	return graph.WriteAldebaran(w)
}

// values fills in defaults and refuses what makes no sense.
func (e *Entry) values(set map[string]int, bug string) (Values, Bug, error) {
	b, err := e.bug(bug)
	if err != nil {
		return nil, b, err
	}
	v := make(Values, len(e.Params))
	for _, p := range e.Params {
		v[p.Name] = p.Default
	}
	for name, n := range b.Set {
		v[name] = n
	}
	for _, name := range sortedKeys(set) {
		if err := e.put(v, name, set[name]); err != nil {
			return nil, b, err
		}
	}
	return v, b, nil
}

func (e *Entry) bug(name string) (Bug, error) {
	if name == "" {
		return Bug{}, nil
	}
	var names []string
	for _, b := range e.Bugs {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	if len(names) == 0 {
		return Bug{}, fmt.Errorf("specification %s has no bugs to give it", e.Name)
	}
	return Bug{}, fmt.Errorf("specification %s has no bug %q%s; it has %s",
		e.Name, name, didYouMean(name, names), strings.Join(names, ", "))
}

func (e *Entry) put(v Values, name string, n int) error {
	var names []string
	for _, p := range e.Params {
		if p.Name == name {
			if n < p.Min || n > p.Max {
				return fmt.Errorf("specification %s with %s=%d: want %d to %d (%s)",
					e.Name, name, n, p.Min, p.Max, p.Says)
			}
			v[name] = n
			return nil
		}
		names = append(names, p.Name)
	}
	return fmt.Errorf("specification %s has no parameter %q%s; it has %s",
		e.Name, name, didYouMean(name, names), strings.Join(names, ", "))
}

// Small returns the parameters of a fast test.
func (e Entry) Small() map[string]int {
	set := make(map[string]int, len(e.Params))
	for _, p := range e.Params {
		set[p.Name] = p.Small
	}
	return set
}

// All returns the registered specifications by name.
func All() []Entry {
	var all []Entry
	for _, name := range sortedKeys(entries) {
		all = append(all, entries[name].Entry)
	}
	return all
}

// Named returns the specification with that name, or an error that lists the
// names. A name such as twophase-8 sets the first parameter of twophase.
func Named(name string) (Entry, error) {
	if r := entries[name]; r != nil {
		return r.Entry, nil
	}
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		n, err := strconv.Atoi(name[at+1:])
		if r := entries[name[:at]]; r != nil && r.numbered && err == nil {
			return r.with(name, n)
		}
	}
	names := sortedKeys(entries)
	return Entry{}, fmt.Errorf("there is no specification %q%s; there are %s",
		name, didYouMean(name, names), strings.Join(names, ", "))
}

// with returns the entry under another name, with n as its first parameter where
// the caller does not set it.
func (r *registered) with(name string, n int) (Entry, error) {
	e := r.Entry
	first := e.Params[0]
	if err := e.put(Values{}, first.Name, n); err != nil {
		return Entry{}, err
	}
	e.Name = name
	e.Params = slices.Clone(e.Params)
	e.Params[0].Default, e.Params[0].Small = n, n
	preset := func(set map[string]int) map[string]int {
		all := map[string]int{first.Name: n}
		for k, v := range set {
			all[k] = v
		}
		return all
	}
	explore, graph, known := e.Check, e.Graph, e.Known
	e.Check = func(set map[string]int, bug string, o check.Options) (Report, error) {
		return explore(preset(set), bug, o)
	}
	e.Known = func(set map[string]int, bound int) (Known, error) {
		return known(preset(set), bound)
	}
	e.Graph = func(w io.Writer, g GraphOptions) error {
		g.Set = preset(g.Set)
		return graph(w, g)
	}
	return e, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
