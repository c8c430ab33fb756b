package worlds

import (
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// union returns a world with all that the worlds have. A topic, a promise or a number
// that several of them have by one name is there once; two processes of one name are a
// mistake, and panic. Who asks, what flows in and how records are called is not joined.
func union(parts ...sim.World) sim.World {
	var w sim.World
	for _, p := range parts {
		before := len(w.Processes) + len(p.Processes)
		w.Processes = join(w.Processes, p.Processes, func(o sim.Process) string { return o.Name })
		if len(w.Processes) < before {
			panic(fmt.Sprintf("worlds: world %s has a process that another one has too", p.Name))
		}
		w.Topics = join(w.Topics, p.Topics, func(o sim.Topic) string { return o.Name })
		w.Promises = join(w.Promises, p.Promises, func(o props.Property) string { return o.Name })
		w.Evidence = join(w.Evidence, p.Evidence, func(o props.Evidence) string { return o.Name })
		w.Groups = append(w.Groups, p.Groups...)
	}
	w.Describe = func(key string, body []byte) ([]model.Part, []model.Count) {
		for _, p := range parts {
			if p.Describe == nil {
				continue
			}
			if parts, counts := p.Describe(key, body); parts != nil || counts != nil {
				return parts, counts
			}
		}
		return nil, nil
	}
	w.Drained = func(v *model.View) bool {
		return !slices.ContainsFunc(parts, func(p sim.World) bool {
			return p.Drained != nil && !p.Drained(v)
		})
	}
	return w
}

// join appends to all those of more whose name all does not have.
func join[T any](all, more []T, name func(T) string) []T {
	for _, m := range more {
		known := func(o T) bool { return name(o) == name(m) }
		if !slices.ContainsFunc(all, known) {
			all = append(all, m)
		}
	}
	return all
}

// either returns what the first of the classifiers says that says anything.
func either(all ...tap.Classify) tap.Classify {
	return func(r tap.Raw) (class, cell string) {
		for _, c := range all {
			if class, cell = c(r); class != "" || cell != "" {
				break
			}
		}
		return class, cell
	}
}
