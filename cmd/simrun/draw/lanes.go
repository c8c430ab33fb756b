package draw

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// Sizes, in pixels.
const (
	laneApart = 132
	laneFirst = 66
	rowHeight = 24
	middle    = rowHeight - 7 // of a row: where arrows run
	headTall  = 34
	edge      = 110 // for labels, right of the last lane
	letter    = 6   // of a label, on average
)

func (s scene) x(lane int) int { return laneFirst + lane*laneApart }

// wide is how wide the lanes are.
func (s scene) wide() int { return s.x(len(s.lanes)-1) + laneFirst + edge }

// head draws the names of the lanes.
func (s scene) head() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="lanes" width="%d" height="%d">`, s.wide(), headTall)
	for i, name := range s.lanes {
		kind := "proc"
		if !strings.Contains(name, "/") || name == feeder {
			kind = "place"
		}
		if name == feeder {
			name = "input"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="5" width="%d" height="24" rx="5"/>`,
			kind, s.x(i)-laneApart/2+6, laneApart-12)
		fmt.Fprintf(&b, `<text class="name" x="%d" y="21">%s</text>`,
			s.x(i), esc(shorten(name, 18)))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // every text in it went through esc
}

// draw draws one row: the lanes with their states, and the event.
func (s scene) draw(r row) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="lanes" width="%d" height="%d">`, s.wide(), rowHeight)
	for i := range s.lanes {
		b.WriteString(segment(r.states[i], s.x(i), 0, middle))
		b.WriteString(segment(r.after[i], s.x(i), middle, rowHeight))
	}
	kind := string(r.event.Kind)
	text := s.x(min(r.from, r.to)) + 8
	switch r.shape {
	case arrow, lost:
		s.line(&b, r)
	case dot:
		fmt.Fprintf(&b, `<circle class="%s" cx="%d" cy="%d" r="4"/>`, kind, s.x(r.from), middle)
	case cross:
		x := s.x(r.from)
		fmt.Fprintf(&b, `<path class="crash" d="M%d %dl14 14m0 -14l-14 14"/>`, x-7, middle-8)
		text += 6
	case bolt:
		x := s.x(r.from)
		fmt.Fprintf(&b, `<path class="bolt" d="M%d %dl-7 9h5l-3 8l9 -11h-5l4 -6z"/>`,
			x+1, middle-10)
	case bar:
		fmt.Fprintf(&b, `<path class="bar" d="M0 %dH%d"/>`, middle, s.wide())
		text = 8
	}
	fmt.Fprintf(&b, `<text class="label %s" x="%d" y="%d">%s</text></svg>`,
		kind, text, middle-4, esc(shorten(r.label, max(1, (s.wide()-text)/letter))))
	return template.HTML(b.String()) // every text in it went through esc
}

// segment is a piece of a lane.
func segment(s state, x, from, to int) string {
	if s == absent {
		return ""
	}
	return fmt.Sprintf(`<path class="%s" d="M%d %dV%d"/>`, s, x, from, to)
}

// line draws an arrow; one that is lost stops on its way.
func (s scene) line(b *strings.Builder, r row) {
	const gap, tip = 5, 6
	from, to := s.x(r.from), s.x(r.to)
	sign := 1
	if to < from {
		sign = -1
	}
	from += sign * gap
	to -= sign * gap
	kind := string(r.event.Kind)
	if r.event.Op == "answer" {
		kind = r.event.Op
	}
	if r.shape == lost {
		to = from + (to-from)*3/5
		fmt.Fprintf(b, `<path class="way lost" d="M%d %dH%d"/>`, from, middle, to)
		fmt.Fprintf(b, `<path class="crash" d="M%d %dl10 10m0 -10l-10 10"/>`, to-5, middle-5)
		return
	}
	fmt.Fprintf(b, `<path class="way %s" d="M%d %dH%d"/>`, kind, from, middle, to)
	fmt.Fprintf(b, `<path class="tip %s" d="M%d %dl%d -3.5v7z"/>`, kind, to, middle, -sign*tip)
}

// shorten cuts text to so many runes.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func esc(s string) string { return html.EscapeString(s) }
