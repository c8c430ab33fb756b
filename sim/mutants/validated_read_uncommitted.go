package mutants

import (
	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "read-uncommitted", Case: "S13",
		Says: "who reads the output leaves the isolation level at the client's default, and " +
			"sees what was aborted",
		World: withProcess(validatedOne(), "reader",
			worlds.Reader(hops.ReadUncommitted)), // the mistake
		Breaks: props.NoAbortedVisible(worlds.ValidatedTopic).Name,
	})
}
