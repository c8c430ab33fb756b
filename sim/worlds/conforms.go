package worlds

import (
	"slices"
	"strings"
	"sync"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

// conformsStem is what the names of the promises begin with that conforms makes.
const conformsStem = "conforms/"

// Conform compares a history of the world with its specification; the zero value where
// the world has none.
func (e Entry) Conform(h *model.History) specs.Conformity {
	if e.Spec == "" {
		return specs.Conformity{}
	}
	return mustSpec(e.Spec).Conform(h, e.At)
}

// mustSpec returns a specification that an entry of this package names.
func mustSpec(name string) specs.Entry {
	spec, err := specs.Named(name)
	if err != nil {
		panic("worlds: " + err.Error())
	}
	if spec.Conform == nil {
		panic("worlds: no history can be compared with specification " + name)
	}
	return spec
}

// comparing compares histories with a specification. It keeps the last comparison, since
// a campaign asks twice: for what a history breaks, and for the steps that it takes.
type comparing struct {
	spec specs.Entry
	at   specs.Topology

	mu   sync.Mutex
	of   *model.History
	long int // the history then, which may have grown
	last specs.Conformity
}

func (c *comparing) conform(h *model.History) specs.Conformity {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != h || c.long != h.Len() {
		c.of, c.long, c.last = h, h.Len(), c.spec.Conform(h, c.at)
	}
	return c.last
}

// promise says that a history is a behaviour of a specification. It cannot conclude
// anything of what is too large for the specification's states, nor without an audit.
func (c *comparing) promise() props.Property {
	return props.Property{
		Name: conformsStem + c.spec.Name,
		Says: "Every step of the hop is one that the specification " + c.spec.Name +
			" allows there.",
		Check: func(h *model.History) []props.Broken {
			var broken []props.Broken
			for _, m := range c.conform(h).Misfits {
				broken = append(broken, props.Broken{Witness: m.String(), Seqs: []int64{m.Seq}})
			}
			return broken
		},
	}
}

// conforming returns w with the promise that its histories are behaviours of the
// entry's specification, and with a count of the steps that they take.
func (e Entry) conforming(w sim.World) sim.World {
	if e.Spec != "" {
		c := &comparing{spec: mustSpec(e.Spec), at: e.At}
		w.Promises = append(slices.Clone(w.Promises), c.promise())
		w.Walked = func(h *model.History) map[string]int { return c.conform(h).Walked }
	}
	return w
}

// WithoutConformance returns w without the promise that its histories are behaviours of
// a specification.
func WithoutConformance(w sim.World) sim.World {
	w.Promises = slices.DeleteFunc(slices.Clone(w.Promises), func(p props.Property) bool {
		return strings.HasPrefix(p.Name, conformsStem)
	})
	w.Walked = nil
	return w
}
