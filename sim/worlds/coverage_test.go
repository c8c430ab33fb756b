package worlds

import (
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
)

// TestCanTake: what a world cannot do is no step of its specification.
func TestCanTake(t *testing.T) {
	for _, e := range All() {
		known, err := e.Known(20_000)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		has := func(action string) bool {
			return slices.ContainsFunc(known.Actions, func(a specs.Taken) bool {
				return a.Action == action
			})
		}
		two := slices.ContainsFunc(known.Classes, func(c specs.Taken) bool {
			return strings.Contains(c.Action, "two ")
		})
		switch e.Name {
		case "landing-block", "landing", "landing-one":
			if has("look") != (e.Name == "landing-block") || two != (e.Name != "landing-one") {
				t.Errorf("%s: looks %t, two owners %t", e.Name, has("look"), two)
			}
		case "tile", "tile-twins":
			if has("lose checkpoint") || two != (e.Name == "tile-twins") {
				t.Errorf("%s: an accident %t, two runs %t", e.Name, has("lose checkpoint"), two)
			}
		}
		if (e.Spec == "") != (known.States == 0) {
			t.Errorf("%s: specification %q, %d states", e.Name, e.Spec, known.States)
		}
	}
}

// TestComparing: a history is compared once, and again when it has grown.
func TestComparing(t *testing.T) {
	n := 0
	c := comparing{spec: specs.Entry{Conform: func(h *model.History, _ specs.Topology,
	) specs.Conformity {
		n++
		return specs.Conformity{Walked: map[string]int{"poll": h.Len()}}
	}}}
	var a, b model.History
	a.Append(model.Event{Kind: model.Note})
	for i, h := range []*model.History{&a, &a, &b, &a} {
		if got := c.conform(h).Walked["poll"]; got != h.Len() {
			t.Errorf("%d: %d steps, want %d", i, got, h.Len())
		}
	}
	if n != 3 {
		t.Errorf("compared %d times, want 3", n)
	}
	a.Append(model.Event{Kind: model.Note})
	if got := c.conform(&a).Walked["poll"]; got != 2 || n != 4 {
		t.Errorf("grown: %d steps, compared %d times", got, n)
	}
}
