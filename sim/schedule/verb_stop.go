package schedule

import "fmt"

// stop asks the process to end, as by SIGTERM. The event itself passes.
type stop struct {
	Where Point
}

func init() {
	Register(Verb{
		Name:  "stop",
		Usage: "stop PROC life N at KIND OP N",
		Says:  "the process is asked to end, as by SIGTERM, with work in its buffers",
		Parse: func(w *Words) Fault {
			var f stop
			f.Where.Proc, f.Where.Life = w.Owner()
			w.OneOf("at")
			w.Event(&f.Where)
			return f
		},
		All: func(p Point, _ Options) []Fault { return []Fault{stop{Where: p}} },
	})
}

func (f stop) String() string {
	return fmt.Sprintf("stop %s at %s", f.Where.owner(), f.Where.event())
}

func (f stop) At() Point      { return f.Where }
func (f stop) Action() Action { return Action{Do: Stop} }

func (f stop) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, stop{Where: p})
	}
	return out
}
