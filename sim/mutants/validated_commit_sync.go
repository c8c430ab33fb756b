package mutants

import (
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// The consumer commits by itself, and the transaction holds the output alone. Between
// the one and the other the program can die: either order is wrong.
func init() {
	register(Mutant{
		Name: "commit-sync-after", Case: "S12",
		Says: "the consumer commits its offsets itself when the transaction is committed: " +
			"who dies in between carries the batch over twice",
		World: withProcess(validatedOne(), "validated",
			pairing{after: commitBeside}.run), // the mistake
		Breaks: props.OffsetsOnlyInTransactions(worlds.ValidatedGroup).Name,
	})
	register(Mutant{
		Name: "commit-sync-before", Case: "S12",
		Says: "the consumer commits its offsets itself before the transaction is committed: " +
			"who dies in between has lost the batch",
		World: withProcess(validatedOne(), "validated",
			pairing{before: commitBeside}.run), // the mistake
		Breaks: props.ExactlyOnce(
			worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name,
	})
}
