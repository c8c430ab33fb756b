package house

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// uses returns where a file names something of a package, by its path. A local
// variable that hides the package counts too: give it another name.
func uses(f File, pkg string) []*ast.SelectorExpr {
	spec := f.imports()[pkg]
	if spec == nil {
		return nil
	}
	local := path.Base(strings.TrimSuffix(pkg, "/v2"))
	if spec.Name != nil {
		local = spec.Name.Name
	}
	var found []*ast.SelectorExpr
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				found = append(found, s)
			}
		}
		return true
	})
	return found
}

// clock lets tests measure, and what says that its clock is the right one.
func clock(f File) []Finding {
	if f.Test() || !f.In("model", "props", "sim") ||
		f.excused("real clock") || f.excused("virtual clock") {
		return nil
	}
	var all []Finding
	for _, s := range uses(f, "time") {
		if slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
			all = append(all, f.at(s.Pos(), "reads the clock with time."+s.Sel.Name,
				`take the time as a value or a func() time.Duration, or say `+
					`"// house: virtual clock because ...", or "real clock"`))
		}
	}
	return all
}

// seeded is what math/rand has besides functions of its global source.
var seeded = regexp.MustCompile(`^(?:New.*|Rand|Source|Source64|PCG|ChaCha8|Zipf)$`)

func random(f File) []Finding {
	if !f.In("model", "props", "sim", "hops") || f.excused("global source") {
		return nil
	}
	var all []Finding
	for _, pkg := range []string{"math/rand", "math/rand/v2"} {
		for _, s := range uses(f, pkg) {
			if !seeded.MatchString(s.Sel.Name) {
				all = append(all, f.at(s.Pos(),
					fmt.Sprintf("rand.%s draws from the global source", s.Sel.Name),
					`take a *rand.Rand, made by rand.New(rand.NewPCG(seed, stream)), `+
						`or say "// house: global source because ..."`))
			}
		}
	}
	return all
}

var printing = regexp.MustCompile(`^(?:Print|Fatal|Panic)(?:f|ln)?$`)

func prints(f File) []Finding {
	if f.Test() || f.In("cmd") || strings.Contains("/"+f.Path, "/examples/") {
		return nil
	}
	const remedy = "return it, or write to an io.Writer that the caller hands in"
	var all []Finding
	for _, pkg := range []string{"fmt", "log"} {
		for _, s := range uses(f, pkg) {
			if printing.MatchString(s.Sel.Name) {
				all = append(all, f.at(s.Pos(), "prints with "+pkg+"."+s.Sel.Name, remedy))
			}
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if x, ok := call.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
				all = append(all, f.at(x.Pos(), "prints with "+x.Name, remedy))
			}
		}
		return true
	})
	return all
}

// machine finds absolute paths of a work folder or of somebody's home.
var machine = regexp.MustCompile(
	"(?:^|[\\s\"'`=(:,<\\[])/(?:work|root|home/\\w+|Users/\\w+)/")

func machinePaths(r Repo) []Finding {
	var all []Finding
	for _, f := range r.Files {
		for i, line := range strings.Split(f.Text, "\n") {
			if machine.MatchString(line) {
				all = append(all, f.onLine(i+1, "names a folder of one machine",
					"use a path from the root of the repository, a flag, or os.MkdirTemp"))
			}
		}
	}
	return all
}
