package specs

import "github.com/hopcheck/hopcheck/model/check"

func init() {
	register(protocol[TwoPhaseState]{
		Entry: Entry{
			Name: "twophase",
			Says: "Lamport's two-phase commit: its known number of states checks the engine",
			Promises: []string{
				"No two resource managers decide differently.",
				"No resource manager waits for ever.",
			},
			Params: []Param{{"managers", "resource managers", 8, 5, 1, MaxManagers}},
			Bugs: []Bug{{Name: "early",
				Says: "the transaction manager commits when all but one have prepared",
				Set:  map[string]int{"managers": 3}}},
		},
		numbered: true,
		build: func(v Values, bug string) check.Spec[TwoPhaseState] {
			if bug != "" {
				return TwoPhaseEarly(v["managers"])
			}
			return TwoPhase(v["managers"])
		},
	})
}
