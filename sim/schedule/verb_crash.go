package schedule

import "fmt"

// crash kills the process. Before comes first everywhere: of two deaths around
// one event the one in which less has happened is the simpler story.
type crash struct {
	Where Point
	After bool
}

func init() {
	Register(Verb{
		Name:  "crash",
		Usage: "crash PROC life N before|after KIND OP N",
		Says:  "the process dies just before the event takes effect, or just after",
		Parse: func(w *Words) Fault {
			var f crash
			f.Where.Proc, f.Where.Life = w.Owner()
			f.After = w.OneOf("before", "after") == "after"
			w.Event(&f.Where)
			return f
		},
		All: func(p Point, _ Options) []Fault {
			return []Fault{crash{Where: p}, crash{Where: p, After: true}}
		},
	})
}

// CrashAfter returns the fault that kills a process just after the event at p.
func CrashAfter(p Point) Fault { return crash{Where: p, After: true} }

func (f crash) String() string {
	side := "before"
	if f.After {
		side = "after"
	}
	return fmt.Sprintf("crash %s %s %s", f.Where.owner(), side, f.Where.event())
}

func (f crash) At() Point      { return f.Where }
func (f crash) Action() Action { return Action{Do: Kill, After: f.After} }

func (f crash) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, crash{Where: p, After: f.After})
	}
	if f.After {
		out = append(out, crash{Where: f.Where})
	}
	return out
}
