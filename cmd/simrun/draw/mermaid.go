package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// mermaidRows bounds a diagram: Mermaid draws nothing from more than 50,000 bytes.
const mermaidRows = 250

// mermaidText is how many runes of a label a diagram shows.
const mermaidText = 60

// WriteMermaid writes a sequence diagram in Mermaid's language, without routine
// traffic. A long history is cut to its first rows, all faults, and the witnesses,
// with a note where something is left out. The same page gives the same bytes.
func (p Page) WriteMermaid(w io.Writer) error {
	s := newScene(p)
	rows, left := s.important(mermaidRows)
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "sequenceDiagram")
	for i, name := range s.lanes {
		if name == feeder {
			name = "input"
		}
		fmt.Fprintf(out, "    participant L%d as %s\n", i, mermaidEscape(name))
	}
	for i, r := range rows {
		if left[i] > 0 {
			fmt.Fprintf(out, "    Note over L0,L%d: … %d more …\n", len(s.lanes)-1, left[i])
		}
		s.mermaid(out, r)
	}
	if n := left[len(rows)]; n > 0 {
		fmt.Fprintf(out, "    Note over L0,L%d: … %d more …\n", len(s.lanes)-1, n)
	}
	return out.Flush()
}

// important picks up to most rows, and says how many were left out before each of
// them and after the last. Routine rows are not counted.
func (s scene) important(most int) (picked []row, left []int) {
	var rows []row
	vital := 0
	for _, r := range s.rows {
		if !r.routine {
			rows = append(rows, r)
		}
		if !r.routine && r.vital() {
			vital++
		}
	}
	rest := most - vital // what may be shown besides
	skipped := 0
	for _, r := range rows {
		switch {
		case len(picked) == most, !r.vital() && rest <= 0:
			skipped++
			continue
		case !r.vital():
			rest--
		}
		picked, left = append(picked, r), append(left, skipped)
		skipped = 0
	}
	return picked, append(left, skipped)
}

// vital says whether a row must be seen.
func (r row) vital() bool {
	return len(r.witness) > 0 || r.shape == cross || r.shape == bolt || r.shape == lost ||
		r.shape == bar
}

func (s scene) mermaid(out io.Writer, r row) {
	text := mermaidEscape(shorten(r.label, mermaidText))
	if len(r.witness) > 0 {
		text = "⚠ " + text
	}
	switch r.shape {
	case arrow:
		way := "->>"
		if r.from > r.to {
			way = "-->>"
		}
		fmt.Fprintf(out, "    L%d%sL%d: %s\n", r.from, way, r.to, text)
	case lost:
		fmt.Fprintf(out, "    L%d--xL%d: lost: %s\n", r.from, r.to, text)
	case cross:
		fmt.Fprintf(out, "    Note over L%d: ✗ %s\n", r.from, text)
	case bolt:
		fmt.Fprintf(out, "    Note over L%d: ⚡ %s\n", r.from, text)
	case bar:
		fmt.Fprintf(out, "    Note over L0,L%d: %s\n", len(s.lanes)-1, text)
	default:
		fmt.Fprintf(out, "    Note over L%d: %s\n", r.from, text)
	}
}

// mermaidEscape keeps text from ending a statement or starting an entity.
func mermaidEscape(s string) string {
	return strings.NewReplacer("#", "#35;", ";", "#59;", "\n", " ", "%", "#37;").Replace(s)
}
