package schedule

import (
	"fmt"
	"time"
)

// pause makes the whole process stand still at the event, its heartbeats too, so
// that a long one makes a zombie of it.
type pause struct {
	Where Point
	For   time.Duration
}

func init() {
	Register(Verb{
		Name:  "pause",
		Usage: "pause PROC life N at KIND OP N for DURATION",
		Says:  "the whole process stands still, heartbeats too, then goes on: a zombie",
		Parse: func(w *Words) Fault {
			var f pause
			f.Where.Proc, f.Where.Life = w.Owner()
			w.OneOf("at")
			w.Event(&f.Where)
			w.OneOf("for")
			f.For = w.Duration()
			return f
		},
		All: func(p Point, o Options) []Fault {
			var out []Fault
			for _, d := range o.withDefaults().Pauses {
				out = append(out, pause{Where: p, For: d})
			}
			return out
		},
	})
}

func (f pause) String() string {
	return fmt.Sprintf("pause %s at %s for %s",
		f.Where.owner(), f.Where.event(), formatDuration(f.For))
}

func (f pause) At() Point      { return f.Where }
func (f pause) Action() Action { return Action{Do: Pause, For: f.For} }

func (f pause) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, pause{Where: p, For: f.For})
	}
	for _, d := range shorter(defaultPauses, f.For) {
		out = append(out, pause{Where: f.Where, For: d})
	}
	return out
}
