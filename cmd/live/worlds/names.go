package worlds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Stem is what the names of everything begin with that a run makes.
const Stem = "hopcheck-"

var idForm = regexp.MustCompile(`^[a-z0-9]{6,20}$`)

// CheckID refuses what is no id of a run: with another one a prefix could be that of
// somebody else.
func CheckID(id string) error {
	if !idForm.MatchString(id) {
		return fmt.Errorf("%q is no id of a run: 6 to 20 of a-z and 0-9", id)
	}
	return nil
}

// Names are the names of one run: those of its world behind the run's prefix. A history
// has them without it, so that a promise means the same here and in simulation.
type Names struct{ ID string }

// Topics is the prefix of topics and groups.
func (n Names) Topics() string { return Stem + n.ID + "." }

// Objects is the prefix of the keys of objects.
func (n Names) Objects() string { return Stem + n.ID + "/" }

// Of returns the name of a topic or a group as the servers know it.
func (n Names) Of(name string) string { return n.Topics() + name }

// Plain takes the prefix out of a text, wherever it stands: a transactional id has it
// in the middle.
func (n Names) Plain(s string) string { return strings.ReplaceAll(s, n.Topics(), "") }

// PlainEvent takes the prefix out of an event.
func (n Names) PlainEvent(e *model.Event) {
	for _, s := range []*string{&e.Group, &e.TxnID, &e.Key, &e.Err, &e.Note} {
		*s = n.Plain(*s)
	}
	e.Parts = slices.Clone(e.Parts) // a call and its return share them
	for i := range e.Parts {
		e.Parts[i].Topic = n.Plain(e.Parts[i].Topic)
	}
}

// Boundary returns what a tap knows by name in a run of w.
func (n Names) Boundary(w World) *tap.Names {
	names := tap.NewNames(func(r tap.Raw) (string, model.Position) {
		r.Topic = n.Plain(r.Topic)
		id, from := w.Identify(r)
		from.Topic = n.Plain(from.Topic)
		return id, from
	})
	if w.Classify != nil {
		names.ClassifyWith(func(r tap.Raw) (class, cell string) {
			r.Topic = n.Plain(r.Topic)
			return w.Classify(r)
		})
	}
	return names
}

// Describe is what w says of objects, by their keys as the servers know them.
func (n Names) Describe(w World) tap.Describe {
	if w.Describe == nil {
		return nil
	}
	return func(key string, body []byte) ([]model.Part, []model.Count) {
		return w.Describe(n.Plain(key), body)
	}
}
