package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs the program and returns what it says and its status.
func checked(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, streams{out: &o, err: &e})
	return o.String(), e.String(), status
}

// TestCheck: what the command prints, and its exit status.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, args string
		status     int
		want       []string // in what it prints, to either side
	}{
		{"a right one", "check twophase-5", 0, []string{"twophase", "8,832", "held"}},
		{"a bug", "check landing --small --bug commit-first", 1,
			[]string{"broken: landing with commit-first", "1. ", "3. "}},
		{"every bug", "check landing --small --bugs", 0, []string{"zombie-overwrite", "found"}},
		{"a drawing", "check landing --small --bug commit-first --format mermaid", 1,
			[]string{"sequenceDiagram", "Note over"}},
		{"too little memory", "check twophase-8 --memory 1", 4, []string{"undecided", "covered"}},
		{"too little time", "check twophase-10 --for 1ms", 4, []string{"undecided"}},
		{"how often", "check twophase-5 --actions", 0, []string{"actions of twophase"}},
		{"no such specification", "check landign", 2, []string{`did you mean "landing"`}},
		{"no such bug", "check landing --bug commit-frist", 2, []string{"commit-first"}},
		{"no such parameter", "check landing --set record=3", 2, []string{"records"}},
		{"no number", "check landing --set records=many", 2, []string{"want NAME=NUMBER"}},
		{"out of range", "check landing --set records=9999", 2, []string{"want 1 to"}},
		{"a bug of none", "check --bug commit-first", 2, []string{"name the one"}},
		{"both", "check landing --bug commit-first --bugs", 2, []string{"want one of them"}},
		{"nothing to lift", "check landing --lift", 2, []string{"want --bug"}},
		{"no such format", "check landing --format svg", 2, []string{"text or mermaid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, status := checked(t, strings.Fields(c.args)...)
			if status != c.status {
				t.Errorf("status %d, want %d\n%s%s", status, c.status, out, errs)
			}
			for _, want := range c.want {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%q is not in:\n%s%s", want, out, errs)
				}
			}
			if c.status == 2 && strings.Count(errs, "\n") != 1 {
				t.Errorf("wrong use takes more than a line:\n%s", errs)
			}
		})
	}
}

// TestCheckJSON: one object a line, with the words of every result.
func TestCheckJSON(t *testing.T) {
	out, _, status := checked(t, "check", "landing", "--small", "--bug", "commit-first", "--json")
	var l struct {
		Kind, Name, Verdict, Promise, Witness, Bug string
		States                                     int
		Steps                                      []struct{ Says string }
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if status != 1 || l.Kind != "spec" || l.Name != "landing" || l.Verdict != "broken" ||
		l.Promise == "" || l.Witness == "" || l.States == 0 || len(l.Steps) == 0 {
		t.Errorf("status %d: %+v", status, l)
	}
}

// TestCheckGraph writes a graph, and none where it would not be whole.
func TestCheckGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.aut")
	if out, errs, status := checked(t, "check", "twophase-2", "--graph", path); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	graph, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(graph), "des (0,") {
		t.Errorf("%v: %.40s", err, graph)
	}
	_, errs, status := checked(t, "check", "twophase-5", "--graph", path, "--bound", "10")
	if _, err := os.Stat(path); status != 2 || err == nil {
		t.Errorf("status %d, and the file is there (%v): %s", status, err, errs)
	}
}
