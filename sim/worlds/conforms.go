package worlds

import (
	"slices"
	"strings"

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

// conforms promises that a history is a behaviour of a specification. It cannot
// conclude anything of what is too large for the specification's states, nor without an
// audit.
func conforms(name string, at specs.Topology) props.Property {
	spec := mustSpec(name)
	return props.Property{
		Name: conformsStem + name,
		Says: "Every step of the hop is one that the specification " + name + " allows there.",
		Check: func(h *model.History) []props.Broken {
			var broken []props.Broken
			for _, m := range spec.Conform(h, at).Misfits {
				broken = append(broken, props.Broken{Witness: m.String(), Seqs: []int64{m.Seq}})
			}
			return broken
		},
	}
}

// conforming returns w with the promise that its histories are behaviours of the
// entry's specification.
func (e Entry) conforming(w sim.World) sim.World {
	if e.Spec != "" {
		w.Promises = append(slices.Clone(w.Promises), conforms(e.Spec, e.At))
	}
	return w
}

// WithoutConformance returns w without the promise that its histories are behaviours of
// a specification.
func WithoutConformance(w sim.World) sim.World {
	w.Promises = slices.DeleteFunc(slices.Clone(w.Promises), func(p props.Property) bool {
		return strings.HasPrefix(p.Name, conformsStem)
	})
	return w
}
