package house

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// Excuses is the subjects on which a file may differ from a rule, with a comment
// on a line of its own: "house:", the subject, "because" and the reason. For
// "many parameters" it stands in the comment of the function.
var Excuses = []string{
	"long file",
	"real clock",    // a watchdog: virtual time cannot see its own hang
	"virtual clock", // code that runs in a bubble, where time.Now is the world's
	"global source", // seeding a library that offers no other way
	"many parameters",
}

var excuse = regexp.MustCompile(`^// house: (.*?)(?: because (\S.*))?$`)

func (f File) excused(subject string) bool {
	return slices.ContainsFunc(f.Syntax.Comments, func(g *ast.CommentGroup) bool {
		return excusedIn(g, subject)
	})
}

func excusedIn(g *ast.CommentGroup, subject string) bool {
	return g != nil && slices.ContainsFunc(g.List, func(c *ast.Comment) bool {
		m := excuse.FindStringSubmatch(c.Text)
		return m != nil && m[1] == subject && m[2] != ""
	})
}

func excuses(f File) []Finding {
	var all []Finding
	for _, g := range f.Syntax.Comments {
		for _, c := range g.List {
			m := excuse.FindStringSubmatch(c.Text)
			if m == nil || m[2] != "" && slices.Contains(Excuses, m[1]) {
				continue
			}
			all = append(all, f.at(c.Pos(), "an exception without a known subject or a reason",
				`write "// house: <subject> because <reason>" with one of: `+
					strings.Join(Excuses, ", ")))
		}
	}
	return all
}
