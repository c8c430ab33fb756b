package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Verb is a kind of fault: the first word of its line in a schedule file.
type Verb struct {
	Name  string // "crash": lower-case letters
	Usage string // the whole line in one line, for messages and for simrun list faults
	Says  string // what it does, in one line
	// Parse reads the words after the name. Errors stay in the words, so it needs
	// no error of its own; what it returns after an error is thrown away.
	Parse func(w *Words) Fault
	// All returns every fault that the verb has at p, simplest first, with the
	// durations and codes of o. None: the verb means nothing there.
	All func(p Point, o Options) []Fault
}

// Draw chooses one of the faults that the verb has at p. A choice of 0 is the
// simplest. It returns nil where the verb has none.
func (v Verb) Draw(c Chooser, p Point, o Options) Fault {
	all := v.All(p, o)
	if len(all) == 0 {
		return nil
	}
	return all[choose(c, v.Name, len(all))]
}

// registry is sorted by name. Only init functions write it.
var registry []Verb

// Register adds a verb. It panics if the name is taken or a part is missing. Call
// it from an init function: it is not safe for concurrent use.
func Register(v Verb) {
	if !validName(v.Name) || v.Usage == "" || v.Says == "" || v.Parse == nil || v.All == nil {
		panic(fmt.Sprintf("schedule: verb %q is not complete", v.Name))
	}
	i, taken := slices.BinarySearchFunc(registry, v.Name,
		func(o Verb, name string) int { return strings.Compare(o.Name, name) })
	if taken || slices.Contains(headers, v.Name) {
		panic(fmt.Sprintf("schedule: verb %q is registered twice", v.Name))
	}
	registry = slices.Insert(registry, i, v)
}

// Verbs returns all registered verbs, sorted by name. The slice is the caller's.
func Verbs() []Verb { return slices.Clone(registry) }

// VerbNames returns the names of all registered verbs, sorted.
func VerbNames() []string {
	names := make([]string, len(registry))
	for i, v := range registry {
		names[i] = v.Name
	}
	return names
}

func verb(name string) (Verb, bool) {
	for _, v := range registry {
		if v.Name == name {
			return v, true
		}
	}
	return Verb{}, false
}

// verbsNamed returns the named verbs in the order of the registry, all of them
// for no names. It panics on a name that is no verb.
func verbsNamed(names []string) []Verb {
	if len(names) == 0 {
		return Verbs()
	}
	if err := (Options{Verbs: names}).Check(); err != nil {
		panic("schedule: " + err.Error())
	}
	return slices.DeleteFunc(Verbs(), func(v Verb) bool { return !slices.Contains(names, v.Name) })
}
