package mutants

import "context"

func init() {
	w := tileOne()
	register(Mutant{
		Name: "no-sink-log", Case: "S30",
		Says: "the tile has a checkpoint and no sink log: it commits what no reader can tell " +
			"from garbage",
		World:  withProcess(w, "tile", noSinkLog().run),
		Breaks: "drains/" + w.Name,
	})
}

// noSinkLog takes the checkpoint for what makes a file data.
func noSinkLog() *tileJob {
	j := newTileJob()
	j.steps = []func(*tileLife, context.Context) error{
		(*tileLife).part, (*tileLife).commit, // the mistake: the name is missing
	}
	return j
}
