package props

import (
	"fmt"
	"slices"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// slotAlerts are what a monitor calls an operator for, the slot being in danger.
var slotAlerts = []string{"slot-limit", "slot-unreserved", "slot-lost", "slot-missing"}

// SlotAlert promises that a replication slot that fills the disk is told of: from when
// an answer about the slot says that it holds back more than limit bytes, or is not
// reserved any more, no longer than within passes, in the time of the run, until
// somebody calls an operator. An alert that came before counts as long as the slot did not get well
// in between.
//
// It concludes what answers and the audit say. Of a slot that nobody looks at it knows
// the audit alone, and then only that nobody has called.
func SlotAlert(limit int64, within time.Duration) Property {
	const name = "slot-alert/slot"
	return Property{
		Name: name,
		Says: fmt.Sprintf("A slot that holds back more than %d bytes, or is in danger, is "+
			"alerted of within %s.", limit, within),
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkSlot(h, limit, within, &f)
			return f.broken()
		},
		Holds:  text(slotHolds, "OVER", fmt.Sprint(limit+1), "LATE", late(within)),
		Breaks: text(slotBreaks, "OVER", fmt.Sprint(limit+1), "LATE", late(within)),
	}
}

func late(within time.Duration) string { return (2*within + time.Minute).String() }

const slotHolds = `
1 1s monitor/0 life 1 return slot 1 done key=slot (retained OVER) (lag 0) note=reserved
2 1s monitor/0 life 1 alert slot-limit
3 LATE - observe slot key=slot lsn=A/0 (retained OVER) (lag 0) note=reserved
`

const slotBreaks = `
1 1s monitor/0 life 1 return slot 1 done key=slot (retained OVER) (lag 0) note=reserved
2 LATE - observe slot key=slot lsn=A/0 (retained OVER) (lag 0) note=reserved
`

// slotCheck is what is known of a slot so far.
type slotCheck struct {
	limit  int64
	danger string        // the alert that is due, "" for none
	bad    *model.Event  // what first said so
	since  time.Duration // from when on somebody should have been called
	called string        // the last alert, as long as nobody saw the slot well
	looked time.Duration // when the last look was
}

func checkSlot(h *model.History, limit int64, within time.Duration, f *findings) {
	c := slotCheck{limit: limit}
	var last *model.Event
	events := h.Events()
	for i := range events {
		e := &events[i]
		last = e
		if c.bad != nil && e.At-c.since > within {
			break
		}
		switch {
		case e.Kind == model.Alert && slices.Contains(slotAlerts, e.Op):
			if c.called = e.Op; c.called == c.danger {
				c.danger, c.bad = "", nil
			}
		case e.Op == "slot" && e.Err == "" && (e.Kind == model.Return || e.Kind == model.Observe):
			c.look(e)
		}
	}
	if c.bad != nil && last.At-c.since > within {
		f.add(fmt.Sprintf("the slot (%s) held back %d bytes at %s, and nobody was called within %s",
			c.bad.Note, c.bad.Count("retained"), c.bad.At, within), c.bad.Seq, last.Seq)
	}
}

// look takes in one answer about the slot. One that got lost is true, but whoever asked
// goes on as if there had been none: it calls nobody, and does not call again for a
// danger that it knows.
func (c *slotCheck) look(e *model.Event) {
	danger := ""
	switch {
	case e.Note != "reserved" && e.Note != "extended": // PostgreSQL's word for much
		danger = "slot-" + e.Note
	case e.Count("retained") > c.limit:
		danger = "slot-limit"
	case max(e.Count("retained"), e.Count("lag")) < c.limit: // at the limit is neither
		c.danger, c.bad = "", nil
		if e.Outcome != model.Unknown {
			c.called = ""
		}
	}
	switch {
	case danger == "" || danger == c.danger:
	case danger == c.called:
		c.danger, c.bad = "", nil
	default:
		c.danger, c.bad, c.since = danger, e, e.At
		if e.Kind == model.Observe { // it came some time after somebody looked last
			c.since = c.looked
		}
	}
	c.looked = e.At
}
