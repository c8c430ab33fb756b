package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Graph is every reachable state of a specification and every step between
// them, without judgement: for other programs to check, to count or to draw. It
// does not change once it is made.
type Graph[S comparable] struct {
	Name    string
	States  []S // in the order in which they are found, canonical
	Initial int // so many of the States, from the first, are initial
	Edges   []Edge
}

// Edge is a step between two States of a Graph, by their index.
type Edge struct {
	From, To int
	Action   string
	Who      int // Nobody if there is none
	Fault    bool
}

// String returns the action and who did it, as a Step does.
func (e Edge) String() string { return Step[bool]{Action: e.Action, Who: e.Who}.String() }

// Reachable returns the graph of a specification that has up to bound states,
// and an error if it has more. It keeps them in a map, so a state may hold
// strings here.
func Reachable[S comparable](spec Spec[S], bound int) (Graph[S], error) {
	g := Graph[S]{Name: spec.Name}
	index := make(map[S]int)
	find := func(s S) int {
		s = spec.canon(s)
		i, ok := index[s]
		if !ok {
			i = len(g.States)
			index[s] = i
			g.States = append(g.States, s)
		}
		return i
	}
	for _, s := range spec.Init {
		find(s)
	}
	g.Initial = len(g.States)
	for from := 0; from < len(g.States); from++ {
		if len(g.States) > bound {
			return g, fmt.Errorf("%s has more than %d states", spec.Name, bound)
		}
		for _, step := range Successors(spec, g.States[from]) {
			g.Edges = append(g.Edges,
				Edge{from, find(step.State), step.Action, step.Who, step.Fault})
		}
	}
	return g, nil
}

func (g Graph[S]) label(i int, label func(*S) string) string {
	if label == nil {
		return fmt.Sprintf("%+v", g.States[i])
	}
	return label(&g.States[i])
}

// WriteDOT writes the graph for Graphviz. Faults are dashed, initial states have
// a bold rim. The label of a state is fmt's %+v if label is nil. Errors are w's.
func (g Graph[S]) WriteDOT(w io.Writer, label func(*S) string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n\tnode [shape=box]\n", strconv.Quote(g.Name))
	for i := range g.States {
		style := ""
		if i < g.Initial {
			style = ", style=bold"
		}
		fmt.Fprintf(out, "\t%d [label=%s%s]\n", i, strconv.Quote(g.label(i, label)), style)
	}
	for _, e := range g.Edges {
		style := ""
		if e.Fault {
			style = ", style=dashed"
		}
		fmt.Fprintf(out, "\t%d -> %d [label=%s%s]\n",
			e.From, e.To, strconv.Quote(e.String()), style)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// WriteAldebaran writes the graph in the format .aut of CADP and mCRL2: a line
// des (first, transitions, states), then a line for each transition. The format
// knows one initial state; if there are more, state 0 is one of our own with a
// step "start" to each, and all others are one further. Errors are w's.
func (g Graph[S]) WriteAldebaran(w io.Writer) error {
	out := bufio.NewWriter(w)
	own := 0
	if g.Initial > 1 {
		own = 1
	}
	fmt.Fprintf(out, "des (0,%d,%d)\n", len(g.Edges)+own*g.Initial, len(g.States)+own)
	for i := range own * g.Initial {
		fmt.Fprintf(out, "(0,\"start\",%d)\n", i+1)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(out, "(%d,%s,%d)\n", e.From+own, strconv.Quote(e.String()), e.To+own)
	}
	return out.Flush()
}

// WriteJSON writes the graph as one object: name, initial (a number), states
// (their labels, as WriteDOT has them) and edges (from, to, action, who, fault).
// Errors are w's.
func (g Graph[S]) WriteJSON(w io.Writer, label func(*S) string) error {
	type edge struct {
		From   int    `json:"from"`
		To     int    `json:"to"`
		Action string `json:"action"`
		Who    int    `json:"who"`
		Fault  bool   `json:"fault,omitempty"`
	}
	graph := struct {
		Name    string   `json:"name"`
		Initial int      `json:"initial"`
		States  []string `json:"states"`
		Edges   []edge   `json:"edges"`
	}{Name: g.Name, Initial: g.Initial, States: []string{}, Edges: []edge{}}
	for i := range g.States {
		graph.States = append(graph.States, g.label(i, label))
	}
	for _, e := range g.Edges {
		graph.Edges = append(graph.Edges, edge(e))
	}
	return json.NewEncoder(w).Encode(graph)
}
