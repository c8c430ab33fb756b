package schedule

import "fmt"

// lose cuts the wire: a request or call never arrives, a reply or return is
// applied and never seen.
type lose struct {
	Where Point
}

func init() {
	Register(Verb{
		Name:  "lose",
		Usage: "lose PROC life N KIND OP N",
		Says:  "the message is lost; the process sees a broken connection, an unknown outcome",
		Parse: func(w *Words) Fault {
			var f lose
			f.Where.Proc, f.Where.Life = w.Owner()
			w.Event(&f.Where)
			return f
		},
		All: func(p Point, _ Options) []Fault { return []Fault{lose{Where: p}} },
	})
}

func (f lose) String() string {
	return fmt.Sprintf("lose %s %s", f.Where.owner(), f.Where.event())
}

func (f lose) At() Point      { return f.Where }
func (f lose) Action() Action { return Action{Do: Lose} }

func (f lose) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, lose{Where: p})
	}
	return out
}
