package mutants

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "validated-commit-last", Case: "S7",
		Says: "the transaction commits the offset of the last record that it holds, instead " +
			"of the next one to read",
		World: withProcess(validatedOne(), "validated", pairing{next: lastItself}.run),
		Breaks: props.OffsetArithmetic(
			worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name,
	})
}

// lastItself is read again after every restart, and carried over a second time.
func lastItself(last *kgo.Record) int64 {
	return last.Offset // the mistake: one short
}
