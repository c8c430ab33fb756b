package house

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// packageDoc wants the comment in doc.go, where readers look for it.
func packageDoc(r Repo) []Finding {
	packages := r.Packages()
	var all []Finding
	for _, f := range r.Files {
		files := packages[f.Dir()]
		if f.Syntax == nil || f.Path != files[0].Path {
			continue // once a package
		}
		i := slices.IndexFunc(files, func(f File) bool { return path.Base(f.Path) == "doc.go" })
		remedy := "say there what the package is for and in which order to read it"
		if i < 0 {
			all = append(all, f.onLine(1, f.Dir()+" has no doc.go", remedy))
			continue
		}
		doc, name := files[i].Syntax, files[i].Syntax.Name.Name
		begins := starts(doc.Doc, "Package "+name)
		if name == "main" {
			begins = doc.Doc.Text() != ""
		}
		if !begins {
			all = append(all, files[i].at(doc.Package,
				fmt.Sprintf("no comment that starts with %q", "Package "+name), remedy))
		}
	}
	return all
}

const docRemedy = "say in a sentence that starts with the name what it is, " +
	"with units, errors and who may use it at once"

func exportedDoc(f File) []Finding {
	if f.Test() || f.Syntax.Name.Name == "main" {
		return nil
	}
	var all []Finding
	missing := func(name *ast.Ident) {
		all = append(all, f.at(name.Pos(), name.Name+" has no comment of its own", docRemedy))
	}
	for _, d := range f.Syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && !starts(d.Doc, d.Name.Name) {
				missing(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if name := undocumented(d, spec); name != nil {
					missing(name)
				}
			}
		}
	}
	return all
}

// undocumented returns the exported name that lacks a comment. A comment above a
// group of constants or variables is for all of them.
func undocumented(d *ast.GenDecl, spec ast.Spec) *ast.Ident {
	doc := d.Doc
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if d.Lparen.IsValid() {
			doc = spec.Doc
		}
		name := spec.Name.Name
		if !spec.Name.IsExported() || starts(doc, name, "A "+name, "An "+name, "The "+name) {
			return nil
		}
		return spec.Name
	case *ast.ValueSpec:
		i := slices.IndexFunc(spec.Names, (*ast.Ident).IsExported)
		grouped := d.Lparen.IsValid() && (d.Doc != nil || spec.Doc != nil || spec.Comment != nil)
		if i < 0 || grouped || starts(doc, spec.Names[i].Name) {
			return nil
		}
		return spec.Names[i]
	}
	return nil
}

// exportedReceiver is true for functions too.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// starts says whether a comment begins with one of the phrases, as whole words.
func starts(doc *ast.CommentGroup, phrases ...string) bool {
	text := doc.Text()
	return slices.ContainsFunc(phrases, func(p string) bool {
		rest, ok := strings.CutPrefix(text, p)
		next := strings.IndexFunc(rest, func(c rune) bool {
			return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		})
		return ok && next == 0
	})
}

var (
	vague     = regexp.MustCompile(`(?:^|[_.-])(?:utils?|helpers?|managers?)(?:[_.-]|$)`)
	vagueType = regexp.MustCompile(`(?:Util|Helper|Manager)s?$`)
)

const nameRemedy = "name it for what it is in the field, or put it beside what uses it"

func names(r Repo) []Finding {
	var all []Finding
	for _, f := range r.Files {
		for _, part := range strings.Split(f.Path, "/") {
			if vague.MatchString(part) {
				all = append(all, f.onLine(1, fmt.Sprintf("%q says nothing", part), nameRemedy))
			}
		}
		if f.Syntax == nil {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if ok && vagueType.MatchString(t.Name.Name) {
				says := fmt.Sprintf("%q says nothing", t.Name.Name)
				all = append(all, f.at(t.Pos(), says, nameRemedy))
			}
			return true
		})
	}
	return all
}

var (
	undone = regexp.MustCompile(`^//\s*(?:TODO|FIXME)\b|\b(?:TODO|FIXME)[:(]`)
	record = regexp.MustCompile(`docs/decisions/[\w.-]+\.md`)
)

// todos accepts a mark in a comment that names a decision record which is there.
func todos(r Repo) []Finding {
	var all []Finding
	for _, f := range r.Files {
		if f.Syntax == nil {
			continue
		}
		for _, group := range f.Syntax.Comments {
			var text strings.Builder
			for _, c := range group.List {
				text.WriteString(c.Text)
			}
			if r.Has(record.FindString(text.String())) {
				continue
			}
			for _, c := range group.List {
				if undone.MatchString(c.Text) {
					all = append(all, f.at(c.Pos(), "work left undone without a record",
						"do it, or write docs/decisions/NNNN-subject.md and name it here"))
				}
			}
		}
	}
	return all
}
