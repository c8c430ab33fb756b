package worlds

import (
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
)

// conforms promises that a history is a behaviour of the specification of the world's
// hop. It cannot conclude anything of what is too large for the specification's states.
func (w World) conforms() []props.Property {
	if w.Spec == "" {
		return nil
	}
	spec, err := specs.Named(w.Spec)
	if err != nil || spec.Conform == nil {
		panic("worlds: no history can be compared with specification " + w.Spec)
	}
	return []props.Property{{
		Name: "conforms/" + w.Spec,
		Says: "Every step of the hop is one that the specification " + w.Spec + " allows there.",
		Check: func(h *model.History) []props.Broken {
			var broken []props.Broken
			for _, m := range spec.Conform(h, w.At).Misfits {
				broken = append(broken, props.Broken{Witness: m.String(), Seqs: []int64{m.Seq}})
			}
			return broken
		},
	}}
}
