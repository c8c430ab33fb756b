package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// columns is the width that text for people is made for.
const columns = 100

// terminal says whether what is written to w is seen at once by a person.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device that nobody reads
	return err != nil || !os.SameFile(info, null)
}

// colours says whether w gets colours: see https://no-color.org.
func colours(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && terminal(w) }

// palette colours words, or leaves them as they are.
type palette bool

func (p palette) wrap(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) good(s string) string  { return p.wrap("32", s) }
func (p palette) bad(s string) string   { return p.wrap("1;31", s) }
func (p palette) doubt(s string) string { return p.wrap("33", s) }
func (p palette) faint(s string) string { return p.wrap("2", s) }
func (p palette) head(s string) string  { return p.wrap("1", s) }

// verdict colours a verdict.
func (p palette) verdict(s string) string {
	switch s {
	case held:
		return p.good(s)
	case broken:
		return p.bad(s)
	}
	return p.doubt(s)
}

// wide are the runes that take two columns of a terminal (Unicode's East Asian
// Width W and F, by block).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// width returns how many columns of a terminal s takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case unicode.Is(wide, r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut makes s fit into so many columns.
func cut(s string, room int) string {
	if width(s) <= room {
		return s
	}
	n := 0
	for i, r := range s {
		if n += width(string(r)); n > room-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// fold breaks text at blanks into lines of the screen, all of them indented.
func fold(text, indent string) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		switch {
		case used == 0:
			b.WriteString(indent)
			used = width(indent)
		case used+1+width(word) > columns:
			b.WriteString("\n" + indent)
			used = width(indent)
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += width(word)
	}
	return b.String() + "\n"
}

// foldList is fold for a list whose items stay whole.
func foldList(items []string, indent string) string {
	const glue = "\x00" // no blank to break at
	whole := make([]string, len(items))
	for i, item := range items {
		whole[i] = strings.ReplaceAll(item, " ", glue)
		if i < len(items)-1 {
			whole[i] += ","
		}
	}
	return strings.ReplaceAll(fold(strings.Join(whole, " "), indent), glue, " ")
}

// grid is rows of cells, each column as wide as its widest cell.
type grid struct {
	head  []string
	right []bool // columns whose cells stand at the right
	rows  [][]string
}

// lines returns the head and the rows, aligned. The cells hold no colours: paint
// gets each padded cell and may colour it.
func (g grid) lines(paint func(row, column int, cell string) string) []string {
	widths := make([]int, len(g.head))
	all := append([][]string{g.head}, g.rows...)
	for _, row := range all {
		for c, cell := range row {
			widths[c] = max(widths[c], width(cell))
		}
	}
	out := make([]string, len(all))
	for r, row := range all {
		var b strings.Builder
		for c, cell := range row {
			if c > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[c]-width(cell))
			painted := paint(r-1, c, cell)
			switch {
			case g.right[c]:
				b.WriteString(pad + painted)
			case c < len(row)-1:
				b.WriteString(painted + pad)
			default:
				b.WriteString(painted)
			}
		}
		out[r] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// plural says a number of things in English.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// span writes a time as people say it: "3h12m", "4m05s", "12s".
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h >= 48:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}
