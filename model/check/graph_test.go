package check

import (
	"errors"
	"strings"
	"testing"
)

func small(init ...int) Spec[int] {
	return Spec[int]{
		Name: `two "steps"`,
		Init: init,
		Next: func(c *Out[int], s *int) {
			if *s < 2 {
				*c.Do("up", *s)++
			}
			if *s > 0 {
				*c.Fault("reset", Nobody) = 0
			}
		},
	}
}

func TestGraphForms(t *testing.T) {
	one, _ := Reachable(small(0), 3)
	two, _ := Reachable(small(1, 2), 3)
	hex := func(s *int) string { return "0" + string(rune('a'+*s)) }
	for _, c := range []struct {
		name  string
		write func(b *strings.Builder) error
		want  string
	}{
		{"dot", func(b *strings.Builder) error { return one.WriteDOT(b, nil) },
			`digraph "two \"steps\"" {
	node [shape=box]
	0 [label="0", style=bold]
	1 [label="1"]
	2 [label="2"]
	0 -> 1 [label="up 0"]
	1 -> 2 [label="up 1"]
	1 -> 0 [label="reset", style=dashed]
	2 -> 0 [label="reset", style=dashed]
}
`},
		{"aldebaran", func(b *strings.Builder) error { return one.WriteAldebaran(b) },
			`des (0,4,3)
(0,"up 0",1)
(1,"up 1",2)
(1,"reset",0)
(2,"reset",0)
`},
		{"aldebaran of two", func(b *strings.Builder) error { return two.WriteAldebaran(b) },
			`des (0,6,4)
(0,"start",1)
(0,"start",2)
(1,"up 1",2)
(1,"reset",3)
(2,"reset",3)
(3,"up 0",1)
`},
		{"json", func(b *strings.Builder) error { return two.WriteJSON(b, hex) },
			`{"name":"two \"steps\"","initial":2,"states":["0b","0c","0a"],"edges":[` +
				`{"from":0,"to":1,"action":"up","who":1},` +
				`{"from":0,"to":2,"action":"reset","who":-1,"fault":true},` +
				`{"from":1,"to":2,"action":"reset","who":-1,"fault":true},` +
				`{"from":2,"to":0,"action":"up","who":0}]}` + "\n"},
	} {
		var b strings.Builder
		if err := c.write(&b); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, b.String(), c.want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestGraphWriterFails(t *testing.T) {
	g, _ := Reachable(small(0), 3)
	for i, err := range []error{
		g.WriteDOT(full{}, nil), g.WriteAldebaran(full{}), g.WriteJSON(full{}, nil),
	} {
		if err == nil || err.Error() != "full" {
			t.Errorf("form %d: %v", i, err)
		}
	}
}
