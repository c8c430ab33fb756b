package schedule

import (
	"fmt"
	"slices"
)

// answer tells the process of an error: at a request or call instead of applying
// it, at a reply or return although it was applied.
type answer struct {
	Where Point
	Code  string
}

func init() {
	Register(Verb{
		Name:  "error",
		Usage: "error PROC life N KIND OP N CODE",
		Says:  "the message is answered with an error; a reply or return: applied all the same",
		Parse: func(w *Words) Fault {
			var f answer
			f.Where.Proc, f.Where.Life = w.Owner()
			w.Event(&f.Where)
			f.Code = w.Code(f.Where)
			return f
		},
		All: func(p Point, o Options) []Fault {
			var out []Fault
			for _, code := range o.codes(p.Kind, p.Op) {
				out = append(out, answer{Where: p, Code: code})
			}
			return out
		},
	})
}

func (f answer) String() string {
	return fmt.Sprintf("error %s %s %s", f.Where.owner(), f.Where.event(), f.Code)
}

func (f answer) At() Point      { return f.Where }
func (f answer) Action() Action { return Action{Do: Answer, Code: f.Code} }

// Simpler tries the codes that stand before this one in the list for its
// operation, all of them for a code that is not in the list.
func (f answer) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, answer{Where: p, Code: f.Code})
	}
	codes := defaultCodes(f.Where.Kind, f.Where.Op)
	if i := slices.Index(codes, f.Code); i >= 0 {
		codes = codes[:i]
	}
	for _, code := range codes {
		out = append(out, answer{Where: f.Where, Code: code})
	}
	return out
}
