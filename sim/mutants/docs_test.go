//go:build synctests

package mutants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const promisesPage = "../../docs/promises.md"

// TestDocs: docs/promises.md names every promise, every "sometimes" and every mutant,
// and a mutant in the row of the promise that it must break.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(promisesPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(text), "\n")
	row := func(words ...string) bool {
		return slices.ContainsFunc(rows, func(row string) bool {
			for _, w := range words {
				if !strings.Contains(row, w) {
					return false
				}
			}
			return strings.HasPrefix(row, "| `")
		})
	}
	stems := constructors(t, "../../props")
	for _, name := range slices.Sorted(maps.Keys(stems)) {
		if !row("`"+stems[name]+"`", "`"+name+"(") {
			t.Errorf("%s has no row for `%s` `%s(...)`: add one", promisesPage, stems[name], name)
		}
	}
	for _, m := range All() {
		stem, _, _ := strings.Cut(m.Breaks, "/")
		if !row("| `"+stem+"` ", "`"+m.Name+"`") {
			t.Errorf("%s: name the mutant `%s` in the row of `%s`", promisesPage, m.Name, stem)
		}
	}
}

// constructors returns the functions of a package that make a Property or a
// Sometimes, and the part before the slash of the name that each gives it.
func constructors(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	stems := make(map[string]string)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || !makesPromise(f.Type.Results) {
				continue
			}
			if stems[f.Name.Name] = stemIn(f.Body); stems[f.Name.Name] == "" {
				t.Errorf("%s: %s: cannot tell the name that it gives", path, f.Name.Name)
			}
		}
	}
	if len(stems) == 0 {
		t.Fatalf("no promise in %s", dir)
	}
	return stems
}

func makesPromise(results *ast.FieldList) bool {
	if results == nil || len(results.List) != 1 {
		return false
	}
	result, ok := results.List[0].Type.(*ast.Ident)
	return ok && (result.Name == "Property" || result.Name == "Sometimes")
}

// stemIn returns what stands before the slash in the first string that has one at
// its end or is a stem and a word.
func stemIn(body *ast.BlockStmt) string {
	stem := ""
	ast.Inspect(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || stem != "" || lit.Kind != token.STRING {
			return stem == ""
		}
		if text, err := strconv.Unquote(lit.Value); err == nil {
			if before, _, ok := strings.Cut(text, "/"); ok && !strings.Contains(before, " ") {
				stem = before
			}
		}
		return true
	})
	return stem
}
