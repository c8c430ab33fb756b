package props

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// LSOProgress promises that no transaction holds readers up for long: where the last
// stable offset of a partition of output is below its end, it moves within bound. Time
// is that of the history, virtual in simulation. A bound is the transaction timeout
// and some slack for the coordinator.
//
// A last stable offset below the end is the first offset of an open transaction, so
// the same value is the same transaction. It was open since the answer to the Produce
// that wrote there, or the first Fetch reply that showed it, and still at the request
// of the last Fetch that showed it, or at the audit: an answer that was long on its
// way says nothing of when it came. So a wait is measured too short rather than too
// long. It cannot conclude anything of what nobody fetched and the audit did not read.
// A transaction that is open at the audit for less than bound is no break.
func LSOProgress(output string, bound time.Duration) Property {
	name := "lso-progress/" + output
	times := []string{
		"OUTPUT", output, "SOON", seconds(bound / 2), "LATE", seconds(bound + 2*time.Second),
	}
	return Property{
		Name: name,
		Says: "Where the last stable offset of " + output + " is below the end it moves within " +
			bound.String() + ".",
		Check: func(h *model.History) []Broken {
			c := lsoCheck{
				output: output, bound: bound, findings: findings{promise: name},
				at: make(map[model.Position]int), written: make(map[model.Position]moment),
			}
			c.run(h)
			return c.broken()
		},
		Holds:  text(lsoHolds, times...),
		Breaks: text(lsoBreaks, times...),
	}
}

const lsoHolds = `
1 0s reader/0 life 1 reply Fetch 1 done [OUTPUT/0 end=2 stable=0]
2 SOON reader/0 life 1 reply Fetch 2 done [OUTPUT/0 end=4 stable=0]
3 LATE reader/0 life 1 reply Fetch 3 done [OUTPUT/0 end=5 stable=5]
4 LATE - observe log [OUTPUT/0 @0 end=7 stable=5]
`

const lsoBreaks = `
1 1s reader/0 life 1 reply Fetch 1 done [OUTPUT/0 end=2 stable=0]
2 LATE - observe log [OUTPUT/0 @0 end=2 stable=0]
`

// seconds is a time as histories print it.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// moment is when an event says that something was so.
type moment struct {
	at  time.Duration
	seq int64
}

// stall is one value of a last stable offset that is below the end.
type stall struct {
	stable      model.Position
	end         int64
	since, till moment
}

type lsoCheck struct {
	findings
	output  string
	bound   time.Duration
	stalls  []stall
	at      map[model.Position]int // place among the stalls
	written map[model.Position]moment
}

func (c *lsoCheck) run(h *model.History) {
	events := h.Events()
	for i := range events {
		e := &events[i]
		switch {
		case e.Err != "":
		case e.Kind == model.Reply && e.Op == "Fetch":
			asked := moment{e.At, e.Seq}
			if e.Of > 0 && e.Of < e.Seq {
				asked.at = events[e.Of-1].At
			}
			c.sight(e, asked)
		case e.Kind == model.Observe && e.Op == "log":
			c.sight(e, moment{e.At, e.Seq})
		case e.Kind == model.Reply && e.Op == "Produce" && e.TxnID != "":
			for j := range e.Parts {
				p := &e.Parts[j]
				at := model.Position{Topic: p.Topic, Partition: p.Partition, Offset: p.Offset}
				if _, ok := c.written[at]; !ok && p.Topic == c.output && p.Err == "" {
					c.written[at] = moment{e.At, e.Seq}
				}
			}
		}
	}
	for _, s := range c.stalls {
		if w, ok := c.written[s.stable]; ok && w.at < s.since.at {
			s.since = w
		}
		if lasted := s.till.at - s.since.at; lasted > c.bound {
			c.add(fmt.Sprintf("the last stable offset of %s/%d stood at %d for %s, below the end "+
				"at %d", c.output, s.stable.Partition, s.stable.Offset, lasted, s.end),
				s.since.seq, s.till.seq)
		}
	}
}

// sight takes in what an event says, which was so when it was asked for.
func (c *lsoCheck) sight(e *model.Event, asked moment) {
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Topic != c.output || p.Err != "" || p.Stable < 0 || p.Stable >= p.End {
			continue
		}
		stable := model.Position{Topic: p.Topic, Partition: p.Partition, Offset: p.Stable}
		at, ok := c.at[stable]
		if !ok {
			at = len(c.stalls)
			c.at[stable] = at
			c.stalls = append(c.stalls, stall{stable: stable, since: moment{e.At, e.Seq}})
		}
		s := &c.stalls[at]
		if !ok || asked.at > s.till.at {
			s.till, s.end = asked, p.End
		}
	}
}
