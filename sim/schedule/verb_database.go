package schedule

import (
	"fmt"
	"slices"
)

// What the verb database does to the server, mildest first.
const (
	// Crashes: every transaction that is open rolls back, every stream ends, and the
	// slot's confirmed position goes back to what was on disk. Right programs live
	// with it.
	Crashes = "crashes"
	// LosesSlot: a replica takes over that has every commit and no slot. Changes that
	// were not streamed are in no stream any more, so it is never drawn.
	LosesSlot = "loses-slot"
)

// databaseOps are the calls to a database, as their tap names them.
var databaseOps = []string{
	"after", "begin", "claim", "commit", "confirm", "enroll", "horizon", "mark", "next",
	"publish", "release", "rollback", "slot", "stream",
}

// database is what happens to the database server, for every process.
type database struct {
	Where Point
	How   string
}

func init() {
	Register(Verb{
		Name:  "database",
		Usage: "database PROC life N at KIND OP N crashes|loses-slot",
		Says: "the database server crashes and recovers, " +
			"or a replica takes over that has no slot",
		Parse: func(w *Words) Fault {
			var f database
			f.Where.Proc, f.Where.Life = w.Owner()
			w.OneOf("at")
			w.Event(&f.Where)
			f.How = w.OneOf(Crashes, LosesSlot)
			return f
		},
		All: func(p Point, _ Options) []Fault {
			if !ofStore(p.Kind) || !slices.Contains(databaseOps, p.Op) {
				return nil
			}
			return []Fault{database{Where: p, How: Crashes}}
		},
	})
}

func (f database) String() string {
	return fmt.Sprintf("database %s at %s %s", f.Where.owner(), f.Where.event(), f.How)
}

func (f database) At() Point      { return f.Where }
func (f database) Action() Action { return Action{Do: Database, Code: f.How} }

func (f database) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, database{Where: p, How: f.How})
	}
	if f.How == LosesSlot {
		out = append(out, database{Where: f.Where, How: Crashes})
	}
	return out
}
