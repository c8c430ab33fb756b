package house

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
)

// Rule is one thing that holds in this repository.
type Rule struct {
	Name  string
	Says  string // what holds, in a sentence
	Check func(Repo) []Finding
}

// Rules is every rule of the house. A new one is a line here and a source that
// breaks it in the tests.
var Rules = []Rule{
	{"parses", "a Go file parses", goParses},
	{"room", "a package has a row in the table of rooms", hasRoom},
	{"arrow", "imports of ours go where the table of rooms allows", arrows},
	{"outside", "a room imports the foreign modules that its row names", outside},
	{"kept", "some packages are imported in their own rooms only", kept},
	{"reach", "live mode reaches no simulator, not even through others", reach},
	{"hop-test", "tests of hops import nothing of ours but hops", hopTests},
	{"function-length", "a function has up to 70 lines", each(functionLength)},
	{"file-length", "a file has up to 500 lines", each(fileLength)},
	{"line-length", "a line has up to 100 columns", each(lineLength)},
	{"parameters", "a function takes up to four parameters", each(parameters)},
	{"package-doc", "a package has a doc.go that says what it is for", packageDoc},
	{"exported-doc", "an exported name has a comment that starts with it", each(exportedDoc)},
	{"names", "names are nouns of the field", names},
	{"todo", "work left undone has a decision record", todos},
	{"excuse", "an exception names a known subject and its reason", each(excuses)},
	{"clock", "model, props and sim read no clock of the machine", each(clock)},
	{"random", "random numbers come from a seeded source", each(random)},
	{"prints", "library code prints nothing", each(prints)},
	{"machine-path", "no text names a folder of one machine", machinePaths},
}

// Finding is a line that breaks a rule, and what to do about it.
type Finding struct {
	Path   string
	Line   int
	Rule   string
	Says   string
	Remedy string
}

// String is the finding as compilers print theirs.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s; %s", f.Path, f.Line, f.Rule, f.Says, f.Remedy)
}

// Check applies the rules and returns what they find, in order of place.
func Check(r Repo, rules []Rule) []Finding {
	var all []Finding
	for _, rule := range rules {
		for _, f := range rule.Check(r) {
			f.Rule = rule.Name
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// each makes a rule of one that looks at a single Go file.
func each(check func(File) []Finding) func(Repo) []Finding {
	return func(r Repo) []Finding {
		var all []Finding
		for _, f := range r.Files {
			if f.Syntax != nil {
				all = append(all, check(f)...)
			}
		}
		return all
	}
}

func (f File) at(pos token.Pos, says, remedy string) Finding {
	return f.onLine(f.Line(pos), says, remedy)
}

func (f File) onLine(line int, says, remedy string) Finding {
	return Finding{Path: f.Path, Line: line, Says: says, Remedy: remedy}
}

func goParses(r Repo) []Finding {
	var all []Finding
	for _, f := range r.Files {
		if f.Broken != nil {
			all = append(all, f.onLine(1, f.Broken.Error(), "make it compile"))
		}
	}
	return all
}
