package schedule

import (
	"fmt"
	"time"
)

// delay holds one event back while the rest of the process goes on: a slow reply,
// a slow put.
type delay struct {
	Where Point
	For   time.Duration
}

func init() {
	Register(Verb{
		Name:  "delay",
		Usage: "delay PROC life N KIND OP N by DURATION",
		Says:  "this one message is slow, the rest of the process goes on",
		Parse: func(w *Words) Fault {
			var f delay
			f.Where.Proc, f.Where.Life = w.Owner()
			w.Event(&f.Where)
			w.OneOf("by")
			f.For = w.Duration()
			return f
		},
		All: func(p Point, o Options) []Fault {
			var out []Fault
			for _, d := range o.withDefaults().Delays {
				out = append(out, delay{Where: p, For: d})
			}
			return out
		},
	})
}

func (f delay) String() string {
	return fmt.Sprintf("delay %s %s by %s",
		f.Where.owner(), f.Where.event(), formatDuration(f.For))
}

func (f delay) At() Point      { return f.Where }
func (f delay) Action() Action { return Action{Do: Delay, For: f.For} }

func (f delay) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, delay{Where: p, For: f.For})
	}
	for _, d := range shorter(defaultDelays, f.For) {
		out = append(out, delay{Where: f.Where, For: d})
	}
	return out
}
