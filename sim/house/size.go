package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The sizes of the house.
const (
	maxFunction   = 70  // lines, from func to the closing brace
	maxLines      = 500 // lines of a file
	maxColumns    = 100 // columns of a line; a tab is tabColumns wide
	tabColumns    = 4
	maxParameters = 4
	testStrings   = 60 // columns; a line of a test with more than these in strings is data
)

func functionLength(f File) []Finding {
	var all []Finding
	check := func(n ast.Node, name string) {
		if lines := f.Line(n.End()) - f.Line(n.Pos()) + 1; lines > maxFunction {
			all = append(all, f.at(n.Pos(),
				fmt.Sprintf("%s has %d lines, of at most %d", name, lines, maxFunction),
				"move a step of it into a function that is named for the step"))
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n, n.Name.Name)
			return false // a literal inside is shorter
		case *ast.FuncLit:
			check(n, "a function literal")
			return false
		}
		return true
	})
	return all
}

func fileLength(f File) []Finding {
	lines := strings.Count(f.Text, "\n")
	if lines <= maxLines || f.excused("long file") {
		return nil
	}
	return []Finding{f.onLine(maxLines+1,
		fmt.Sprintf("the file has %d lines, of at most %d", lines, maxLines),
		`split it by subject, or say "// house: long file because ..."`)}
}

var link = regexp.MustCompile(`https?://`)

// lineLength exempts what cannot be broken: directives, links, strings over
// several lines, and in tests a line that is mostly strings, which is data.
func lineLength(f File) []Finding {
	data := dataLines(f)
	var all []Finding
	for i, line := range strings.Split(f.Text, "\n") {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		text := strings.TrimSpace(line)
		directive := strings.HasPrefix(text, "//go:") || strings.HasPrefix(text, "//lint:")
		if columns <= maxColumns || data[i+1] || directive || link.MatchString(line) {
			continue
		}
		all = append(all, f.onLine(i+1,
			fmt.Sprintf("the line has %d columns, of at most %d", columns, maxColumns),
			"break it, or name a part of it"))
	}
	return all
}

// dataLines returns the lines whose length is that of their strings.
func dataLines(f File) map[int]bool {
	data := make(map[int]bool)
	columns := make(map[int]int) // of the strings that begin on a line
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		first, last := f.Line(lit.Pos()), f.Line(lit.End())
		columns[first] += utf8.RuneCountInString(lit.Value)
		for line := first; line <= last; line++ {
			if first < last || f.Test() && columns[first] > testStrings {
				data[line] = true
			}
		}
		return true
	})
	return data
}

func parameters(f File) []Finding {
	var all []Finding
	check := func(name *ast.Ident, t *ast.FuncType, doc *ast.CommentGroup) {
		if n := countParameters(t); n > maxParameters && !excusedIn(doc, "many parameters") {
			all = append(all, f.at(name.Pos(),
				fmt.Sprintf("%s takes %d parameters, of at most %d", name.Name, n, maxParameters),
				"group them in a struct that has a name in the field"))
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name, n.Type, n.Doc)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				if t, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
					check(m.Names[0], t, m.Doc)
				}
			}
		}
		return true
	})
	return all
}

// countParameters leaves out the context, which every call that blocks takes.
func countParameters(t *ast.FuncType) int {
	count := 0
	for _, field := range t.Params.List {
		if s, ok := field.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			continue
		}
		count += max(1, len(field.Names))
	}
	return count
}
