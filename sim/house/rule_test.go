package house_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/sim/house"
)

type texts = map[string]string

const ours = house.Module + "/"

// imports is a Go file with the given imports.
func imports(paths ...string) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for _, p := range paths {
		fmt.Fprintf(&b, "import _ %q\n", p)
	}
	return b.String()
}

// Each rule has sources that break it, with the places, and sources that come
// close and keep it (no places).
var arrowCases = []ruleCase{
	{"room", texts{"extra/a.go": imports()}, "extra/a.go:1"},
	{"room", texts{"model/a.go": imports(), "hops/deep/a.go": imports()}, ""},
	{"arrow", texts{"hops/a.go": imports("os", ours+"model")}, "hops/a.go:3"},
	{"arrow", texts{"hops/a.go": imports(ours + "hops/deep")}, ""},
	{"arrow", texts{"hops/a_test.go": imports(ours + "sim")}, ""},
	{"arrow", texts{"model/a.go": imports(ours + "model/check")}, "model/a.go:2"},
	{"arrow", texts{"model/specs/a.go": imports(ours+"model", ours+"model/check")}, ""},
	{"arrow", texts{"sim/tap/a.go": imports(ours + "sim")}, "sim/tap/a.go:2"},
	{"arrow", texts{"cmd/simrun/a.go": imports(ours + "cmd/live")}, "cmd/simrun/a.go:2"},
	{"outside", texts{"model/a.go": imports("github.com/twmb/franz-go/pkg/kgo")}, "model/a.go:2"},
	{"outside", texts{"hops/a.go": imports("github.com/twmb/franz-go/pkg/kgo", "go/ast")}, ""},
	{"outside", texts{"cmd/live/a.go": imports("example.org/anything")}, ""},
	{"kept", texts{"props/a.go": imports("testing")}, "props/a.go:2"},
	{"kept", texts{"sim/a.go": imports("testing/synctest"), "props/a_test.go": imports("testing")}, ""},
	{"kept", texts{"hops/a.go": imports("github.com/twmb/franz-go/pkg/kfake")}, "hops/a.go:2"},
	{"kept", texts{"hops/a.go": imports("github.com/jackc/pgx/v5")}, "hops/a.go:2"},
	{"kept", texts{"sim/worlds/a.go": imports("pgregory.net/rapid")}, "sim/worlds/a.go:2"},
	{"kept", texts{"cmd/live/s3/a.go": imports("github.com/aws/aws-sdk-go-v2/service/s3")}, ""},
	{"reach", texts{
		"cmd/live/a.go": imports(ours + "props"),
		"props/a.go":    imports(ours + "sim/tap"),
		"sim/tap/a.go":  imports("pgregory.net/rapid"),
	}, "cmd/live/a.go:2"},
	{"reach", texts{"cmd/live/a.go": imports(ours+"sim/tap", ours+"sim/schedule")}, ""},
	{"hop-test", texts{"hops/a_test.go": imports(ours + "sim")}, "hops/a_test.go:2"},
	{"hop-test", texts{"hops/a_test.go": imports(ours+"hops", "testing")}, ""},
}

var sizeCases = []ruleCase{
	{"parses", texts{"model/a.go": "package"}, "model/a.go:1"},
	{"function-length", texts{"a.go": function(71)}, "a.go:2"},
	{"function-length", texts{"a.go": function(70)}, ""},
	{"function-length", texts{"a.go": "package p\nvar f = func() {" + lines(70) + "}\n"}, "a.go:2"},
	{"file-length", texts{"a.go": "package p\n" + lines(500)}, "a.go:501"},
	{"file-length", texts{"a.go": "package p\n" + lines(499)}, ""},
	{"file-length", texts{"a.go": "package p\n// house: long file because a table\n" + lines(500)}, ""},
	{"line-length", texts{"a.go": "package p\n\t// " + dots(94) + "\n"}, "a.go:2"},
	{"line-length", texts{"a.go": "package p\n\t// " + dots(93) + "\n"}, ""},
	{"line-length", texts{"a.go": "package p\n// https://x.org " + dots(90) + "\n"}, ""},
	{"line-length", texts{"a.go": "package p\nvar s = `\n" + dots(101) + "`\n"}, ""},
	{"line-length", texts{"a.go": "package p\nvar s = \"" + dots(101) + "\"\n"}, "a.go:2"},
	{"line-length", texts{"a_test.go": "package p\nvar s = \"" + dots(101) + "\"\n"}, ""},
	{"line-length", texts{"a_test.go": "package p\nvar s = \"\" // " + dots(101) + "\n"}, "a_test.go:2"},
	{"parameters", texts{"a.go": "package p\nfunc f(a, b, c, d int, e string) {}\n"}, "a.go:2"},
	{"parameters", texts{"a.go": "package p\nfunc f(x context.Context, a, b, c, d int) {}\n"}, ""},
	{"parameters", texts{"a.go": "package p\ntype I interface {\n\tF(a, b, c, d, e int)\n}\n"}, "a.go:3"},
	{"parameters", texts{"a.go": "package p\n// house: many parameters because a hook has them\n" +
		"func f(a, b, c, d, e int) {}\n"}, ""},
}

var wordCases = []ruleCase{
	{"package-doc", texts{"p/a.go": "// Package p is good.\npackage p\n"}, "p/a.go:1"},
	{"package-doc", texts{"p/doc.go": "// Some words.\npackage p\n"}, "p/doc.go:2"},
	{"package-doc", texts{"p/doc.go": "// Package p is good.\npackage p\n", "p/a.go": "package p\n"}, ""},
	{"package-doc", texts{"c/doc.go": "// Simrun simulates.\npackage main\n"}, ""},
	{"exported-doc", texts{"a.go": "package p\nfunc F() {}\n"}, "a.go:2"},
	{"exported-doc", texts{"a.go": "package p\n// Fold folds.\nfunc F() {}\n"}, "a.go:3"},
	{"exported-doc", texts{"a.go": "package p\ntype T[K any] int\nfunc (*T[K]) F() {}\n"}, "a.go:2 a.go:3"},
	{"exported-doc", texts{"a.go": "package p\ntype t int\nfunc (t) Len() int { return 0 }\n"}, ""},
	{"exported-doc", texts{"a.go": "package p\n// A T is one.\ntype T int\n"}, ""},
	{"exported-doc", texts{"a.go": "package p\n// Some errors.\nvar (\n\tA = 1\n\tB = 2\n)\n"}, ""},
	{"exported-doc", texts{"a.go": "package p\nconst (\n\tA = 1 // one\n\tB = 2\n)\n"}, "a.go:4"},
	{"exported-doc", texts{"a.go": "package p\nvar A, b = 1, 2\n"}, "a.go:2"},
	{"exported-doc", texts{"a.go": "package main\nfunc F() {}\n"}, ""},
	{"names", texts{"p/string_util.go": "package p\n"}, "p/string_util.go:1"},
	{"names", texts{"helpers/a.go": "package p\ntype ConnManager int\n"}, "helpers/a.go:1 helpers/a.go:2"},
	{"names", texts{"p/utility.go": "package p\ntype Managed int\n"}, ""},
	{"todo", texts{"a.go": "package p\n// TODO do it\n"}, "a.go:2"},
	{"todo", texts{"a.go": "package p\n// Later. FIXME: do it, docs/decisions/0007-it.md\n"}, "a.go:2"},
	{"todo", texts{
		"a.go":                      "package p\n// FIXME: do it, see\n// docs/decisions/0007-it.md\n",
		"docs/decisions/0007-it.md": "",
	}, ""},
	{"excuse", texts{"a.go": "package p\n// house: long file\n"}, "a.go:2"},
	{"excuse", texts{"a.go": "package p\n// house: bad mood because it rains\n"}, "a.go:2"},
	{"excuse", texts{"a.go": "package p\n// house: real clock because a watchdog\n"}, ""},
	{"machine-path", texts{"docs/a.md": "one\nsee /" + "root/x and `/" + "work/y`\n"}, "docs/a.md:2"},
	{"machine-path", texts{"docs/a.md": "https://x.org/work/ $HOME/work/ docs/root/x\n"}, ""},
}

var callCases = []ruleCase{
	{"clock", texts{"sim/a.go": "package p\nimport \"time\"\nvar x = time.Now()\n"}, "sim/a.go:3"},
	{"clock", texts{"props/a.go": "package p\nimport t \"time\"\nvar x = t.Since\n"}, "props/a.go:3"},
	{"clock", texts{"hops/a.go": "package p\nimport \"time\"\nvar x = time.Now()\n"}, ""},
	{"clock", texts{"sim/a.go": "package p\nimport \"time\"\n" +
		"// house: real clock because it watches the virtual one\nvar x = time.Now()\n"}, ""},
	{"random", texts{"hops/a.go": "package p\nimport \"math/rand/v2\"\nvar x = rand.IntN(3)\n"}, "hops/a.go:3"},
	{"random", texts{"sim/a_test.go": "package p\nimport \"math/rand\"\nvar x = rand.Int()\n"}, "sim/a_test.go:3"},
	{"random", texts{"sim/a.go": "package p\nimport \"math/rand/v2\"\n" +
		"var x *rand.Rand = rand.New(rand.NewPCG(1, 2))\n"}, ""},
	{"prints", texts{"sim/a.go": "package p\nimport \"fmt\"\nfunc f() { fmt.Println() }\n"}, "sim/a.go:3"},
	{"prints", texts{"hops/a.go": "package p\nimport \"log\"\nfunc f() { log.Fatalf(\"\") }\n"}, "hops/a.go:3"},
	{"prints", texts{"sim/a.go": "package p\nfunc f() { println() }\n"}, "sim/a.go:2"},
	{"prints", texts{"cmd/simrun/a.go": "package main\nimport \"fmt\"\nfunc f() { fmt.Println() }\n"}, ""},
	{"prints", texts{"sim/a.go": "package p\nimport \"fmt\"\nvar s = fmt.Sprint(1)\n"}, ""},
}

type ruleCase struct {
	rule   string
	texts  texts
	places string // of the findings; "" when the rule is kept
}

func TestRules(t *testing.T) {
	broken := make(map[string]bool)
	for _, cases := range [][]ruleCase{arrowCases, sizeCases, wordCases, callCases} {
		for i, c := range cases {
			broken[c.rule] = broken[c.rule] || c.places != ""
			t.Run(fmt.Sprintf("%s/%d", c.rule, i), func(t *testing.T) {
				var places []string
				for _, f := range house.Check(house.Parse(c.texts), rulesNamed(c.rule)) {
					places = append(places, fmt.Sprintf("%s:%d", f.Path, f.Line))
					if f.Says == "" || f.Remedy == "" {
						t.Errorf("%v: a finding says what is wrong and what to do", f)
					}
				}
				if diff := cmp.Diff(c.places, strings.Join(places, " ")); diff != "" {
					t.Errorf("places (-want +got):\n%s", diff)
				}
			})
		}
	}
	for _, rule := range house.Rules {
		if !broken[rule.Name] {
			t.Errorf("nothing here breaks the rule %q: add a source that does", rule.Name)
		}
	}
}

func rulesNamed(name string) []house.Rule {
	for _, rule := range house.Rules {
		if rule.Name == name {
			return []house.Rule{rule}
		}
	}
	panic("no rule " + name)
}

// function is a file with a function of n lines.
func function(n int) string { return "package p\nfunc f() {" + lines(n-1) + "}\n" }

func lines(n int) string { return strings.Repeat("\n", n) }

func dots(n int) string { return strings.Repeat(".", n) }

func ExampleCheck() {
	r := house.Parse(map[string]string{
		"props/loss.go": "package props\n\nimport \"testing\"\n\nvar _ testing.TB\n",
	})
	for _, f := range house.Check(r, house.Rules) {
		if f.Rule == "kept" {
			fmt.Printf("%s:%d: %s\n%s\n", f.Path, f.Line, f.Says, f.Remedy)
		}
	}
	// Output:
	// props/loss.go:3: testing is for sim, sim/contract alone
	// return an error or a value: sim.Run and sim.Check report it
}
