package specs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// Known is what an exploration knows of the steps of a specification, as
// [Conformity.Walked] names them: by action, and by action and the class of the state
// that it was taken in.
type Known struct {
	Actions []Taken
	Classes []Taken // "put @ one owner, all committed"; none without classes
	// States is how many were explored; Whole says that these are all of them.
	States int
	Whole  bool
}

// atClass joins an action and a class.
func atClass(action, class string) string { return action + " @ " + class }

// known explores the first states of a specification, bound of them, in the order of
// their distance from the start.
func (p protocol[S]) known(spec check.Spec[S], bound int) Known {
	type key struct {
		name  string
		fault bool
	}
	actions, classes := make(map[key]int64), make(map[key]int64)
	seen := make(map[S]bool)
	var queue []S
	find := func(s S) {
		if spec.Canon != nil {
			spec.Canon(&s)
		}
		if !seen[s] && len(queue) < bound {
			seen[s] = true
			queue = append(queue, s)
		}
	}
	for _, s := range spec.Init {
		find(s)
	}
	k := Known{Whole: true}
	for i := 0; i < len(queue); i++ {
		for _, step := range check.Successors(spec, queue[i]) {
			find(step.State)
			actions[key{step.Action, step.Fault}]++
			if p.class != nil {
				classes[key{atClass(step.Action, p.class(&queue[i])), step.Fault}]++
			}
		}
	}
	k.States, k.Whole = len(queue), len(queue) < bound
	list := func(counts map[key]int64) []Taken {
		var all []Taken
		for at, n := range counts {
			all = append(all, Taken{at.name, at.fault, n})
		}
		slices.SortFunc(all, func(a, b Taken) int {
			if a.Fault != b.Fault {
				if b.Fault {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.Action, b.Action)
		})
		return all
	}
	k.Actions, k.Classes = list(actions), list(classes)
	return k
}

// without leaves out actions.
func (k Known) without(actions []string) Known {
	left := func(t Taken) bool {
		action, _, _ := strings.Cut(t.Action, " @ ")
		return slices.Contains(actions, action)
	}
	k.Actions, k.Classes = slices.DeleteFunc(k.Actions, left), slices.DeleteFunc(k.Classes, left)
	return k
}
