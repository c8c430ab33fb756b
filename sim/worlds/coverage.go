package worlds

import "github.com/hopcheck/hopcheck/model/specs"

// Known returns what an exploration knows of the steps of the world's specification, as
// far as the world can take them: with as many members as it has, and no accidents, since
// worlds that have some promise no specification. It explores up to bound states. Without
// a specification it is the zero value.
func (e Entry) Known(bound int) (specs.Known, error) {
	if e.Spec == "" {
		return specs.Known{}, nil
	}
	spec := mustSpec(e.Spec)
	set := make(map[string]int)
	for _, p := range spec.Params {
		switch p.Name {
		case "members", "runs", "publishers":
			set[p.Name] = min(e.replicas(), p.Max)
		case "block":
			set[p.Name] = min(e.At.Block, 2)
		case "log":
			set[p.Name] = 0
			if e.At.Proc == "publisher" {
				set[p.Name] = 1
			}
		case "accidents":
			set[p.Name] = 0
		}
	}
	return spec.Known(set, bound)
}

// replicas is how many replicas the process has that the specification is about.
func (e Entry) replicas() int {
	for _, p := range e.Processes {
		if p.Name == e.At.Proc {
			return max(1, p.Replicas)
		}
	}
	return 1
}
