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

func checkSlot(h *model.History, limit int64, within time.Duration, f *findings) {
	var bad *model.Event // what first said that the slot is in danger, and nobody called since
	called := false      // since it is
	events := h.Events()
	var last *model.Event
	for i := range events {
		e := &events[i]
		last = e
		looked := e.Op == "slot" && e.Err == "" &&
			(e.Kind == model.Return || e.Kind == model.Observe)
		switch {
		case e.Kind == model.Alert && slices.Contains(slotAlerts, e.Op):
			called, bad = true, nil
		case !looked:
		case e.Count("retained") <= limit && e.Note == "reserved":
			called, bad = false, nil
		case bad == nil && !called:
			bad = e
		}
		if bad != nil && e.At-bad.At > within {
			break
		}
	}
	if bad == nil {
		return
	}
	// Who looks only at the end finds a slot that grew all the time.
	since := last.At - bad.At
	if bad.Kind == model.Observe {
		since = last.At
	}
	if since > within {
		f.add(fmt.Sprintf("the slot (%s) held back %d bytes at %s, and nobody was called within %s",
			bad.Note, bad.Count("retained"), bad.At, within), bad.Seq, last.Seq)
	}
}
