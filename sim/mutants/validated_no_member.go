package mutants

import (
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "offsets-without-member", Case: "S16",
		Says: "offsets are added to the transaction by the name of the group alone, without " +
			"member and generation, so that a zombie's are taken too",
		World: withProcess(validatedTwo(), "validated", pairing{as: nobody}.run),
		Breaks: props.ExactlyOnce(
			worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name,
	})
}

// nobody is what sendOffsetsToTransaction(offsets, groupId) says in Java. The
// transactional id does not fence the zombie: nobody else has that one.
func nobody(membership) membership { return membership{"", -1} } // the mistake
