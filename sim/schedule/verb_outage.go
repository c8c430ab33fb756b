package schedule

import (
	"fmt"
	"time"
)

// outage is a restart of the brokers as clients see it: every connection of every
// process breaks, and none can be made until they are back, with what they had stored.
type outage struct {
	Where Point
	For   time.Duration
}

func init() {
	Register(Verb{
		Name:  "outage",
		Usage: "outage PROC life N at KIND OP N for DURATION",
		Says:  "the brokers restart: all connections break, and none is made until they are back",
		Parse: func(w *Words) Fault {
			var f outage
			f.Where.Proc, f.Where.Life = w.Owner()
			w.OneOf("at")
			w.Event(&f.Where)
			w.OneOf("for")
			f.For = w.Duration()
			return f
		},
		All: func(p Point, _ Options) []Fault {
			var out []Fault
			for _, d := range outages {
				out = append(out, outage{Where: p, For: d})
			}
			return out
		},
	})
}

// outages are the lengths to choose from: a quick restart, and one that outlives
// sessions. Longer ones than transactions may last would only wait.
var outages = []time.Duration{2 * time.Second, 14 * time.Second}

func (f outage) String() string {
	return fmt.Sprintf("outage %s at %s for %s",
		f.Where.owner(), f.Where.event(), formatDuration(f.For))
}

func (f outage) At() Point      { return f.Where }
func (f outage) Action() Action { return Action{Do: Outage, For: f.For} }

func (f outage) Simpler() []Fault {
	var out []Fault
	for _, p := range f.Where.simpler() {
		out = append(out, outage{Where: p, For: f.For})
	}
	for _, d := range shorter(outages, f.For) {
		out = append(out, outage{Where: f.Where, For: d})
	}
	return out
}
