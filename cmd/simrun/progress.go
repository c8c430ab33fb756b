package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// gauge is one line on a terminal that rewrites itself; without a terminal it is
// nil and does nothing.
type gauge struct {
	w     io.Writer
	began time.Time
	last  time.Time
	shown int // columns
}

// rewriteEvery keeps the line quiet.
const rewriteEvery = 200 * time.Millisecond

func newGauge(w io.Writer) *gauge {
	if !terminal(w) {
		return nil
	}
	return &gauge{w: w, began: time.Now()}
}

// show writes what a hunt has done so far.
func (g *gauge) show(h *hunt) {
	if g == nil || time.Since(g.last) < rewriteEvery {
		return
	}
	g.last = time.Now()
	g.rewrite(gaugeText(h, time.Since(g.began)))
}

func (g *gauge) rewrite(text string) {
	const room = 79
	text = cut(text, room)
	fmt.Fprint(g.w, "\r"+text+strings.Repeat(" ", max(0, g.shown-width(text))))
	g.shown = width(text)
}

// clear takes the line away.
func (g *gauge) clear() {
	if g != nil && g.shown > 0 {
		fmt.Fprint(g.w, "\r"+strings.Repeat(" ", g.shown)+"\r")
		g.shown = 0
	}
}

// gaugeText says: done, rate, kills, time left.
func gaugeText(h *hunt, elapsed time.Duration) string {
	done, kills, failures := 0, 0, 0
	for _, s := range h.subjects {
		t, _, _ := s.total()
		done += t.Schedules
		kills += t.kills()
		if s.failed != none {
			failures++
		}
	}
	wanted := h.wanted() * len(h.subjects)
	text := plural(done, "schedule")
	if wanted > 0 {
		text = fmt.Sprintf("%s of %s", thousands(done), plural(wanted, "schedule"))
	}
	rate := float64(done) / max(elapsed.Seconds(), 0.001)
	text += fmt.Sprintf(", %.0f/s, %s", rate, plural(kills, "kill"))
	if failures > 0 {
		text += fmt.Sprintf(", %d broken (shrinking)", failures)
	}
	left := -1.0
	if !h.until.IsZero() {
		left = time.Until(h.until).Seconds()
	} else if rate > 0 && wanted > done {
		left = float64(wanted-done) / rate
	}
	if left >= 0 {
		text += ", " + span(left) + " left"
	}
	return text
}
