package draw_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/cmd/simrun/draw"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

const text = `1 0s hop/0 life 1 start
2 1s hop/0 life 1 request Fetch 1
3 1s hop/0 life 1 reply Fetch 1 done of=2
4 2s hop/0 life 1 note ask ["" {id="a;b#1"}]
5 2s hop/0 life 1 request Produce 1 [in/0 {id="<b>&"}]
6 2s hop/0 life 1 fault note="lose hop/0 life 1 reply Produce 1"
7 2s hop/0 life 1 reply Produce 1 unknown of=5 [in/0 @7]
8 3s hop/0 life 1 pause note="pause hop/0 life 1 at call put 1 for 60s"
9 63s hop/0 life 1 resume
10 63s hop/0 life 1 call put 1 key=in/0/7
11 63s hop/0 life 1 return put 1 done of=10 key=in/0/7
12 64s hop/0 life 1 crash note="crash hop/0 life 1 after return put 1"
13 65s hop/0 life 2 start
14 66s hop/0 life 2 exit - done
15 70s - heal
16 71s - observe log [in/0 @0 end=8]
`

func page(t *testing.T) draw.Page {
	t.Helper()
	h, err := model.Read(strings.NewReader(strings.ReplaceAll(text, `[""`, `[""/-1`)))
	if err != nil {
		t.Fatal(err)
	}
	return draw.Page{
		History: h, World: "hop", Judged: true, Says: map[string]string{"p/in": "It is so."},
		Broken: []props.Broken{{Promise: "p/in", Witness: "7 <is> lost", Seqs: []int64{7, 16}}},
	}
}

func TestMermaid(t *testing.T) {
	var out bytes.Buffer
	if err := page(t).WriteMermaid(&out); err != nil {
		t.Fatal(err)
	}
	want := `sequenceDiagram
    participant L0 as application
    participant L1 as hop/0
    participant L2 as brokers
    participant L3 as store
    Note over L1: life 1 starts
    L0->>L1: ask a#59;b#35;1
    L1->>L2: Produce 1 in/0 <b>&
    Note over L1: ⚡ lose hop/0 life 1 reply Produce 1
    L2--xL1: lost: ⚠ Produce 1 unknown in/0@7
    Note over L1: pause hop/0 life 1 at call put 1 for 60s
    Note over L1: resume
    L1->>L3: put 1 in/0/7
    L3-->>L1: put 1 in/0/7
    Note over L1: ✗ crash hop/0 life 1 after return put 1
    Note over L1: life 2 starts
    Note over L1: exit
    Note over L0,L3: faults end, everything heals
    Note over L2: ⚠ log in/0@0
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMermaidIsBounded cuts a long history, and keeps what matters.
func TestMermaidIsBounded(t *testing.T) {
	h := new(model.History)
	for range 2000 {
		h.Append(model.Event{Proc: "hop/0", Life: 1, Kind: model.Request, Op: "Produce"})
	}
	h.Append(model.Event{Proc: "hop/0", Life: 1, Kind: model.Crash, Note: "here"})
	var out bytes.Buffer
	if err := (draw.Page{History: h}).WriteMermaid(&out); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if strings.Count(got, "\n") > 260 || !strings.Contains(got, "… 1751 more …") ||
		!strings.Contains(got, "✗ here") {
		t.Errorf("got %d lines, the last ones:\n%s", strings.Count(got, "\n"), got[len(got)-300:])
	}
}

func TestHTML(t *testing.T) {
	var out, again bytes.Buffer
	p := page(t)
	if err := p.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteHTML(&again); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same page gives other bytes, or %v", err)
	}
	got := out.String()
	for what, want := range map[string]string{
		"verdict":      `<span class="verdict broken">broken</span>`,
		"promise":      `<p>It is so.</p>`,
		"witness text": `7 &lt;is&gt; lost <a href="#e7">#7</a> <a href="#e16">#16</a>`,
		"witness row":  `<div class="row witness" id="e7">`,
		"routine row":  `<div class="row routine" id="e2">`,
		"crash":        `<path class="crash" d="M`,
		"pause":        `<path class="paused"`,
		"dead":         `<path class="dead"`,
		"lost":         `<path class="way lost"`,
		"escaped":      `in/0 &lt;b&gt;&amp;`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: lacks %s", what, want)
		}
	}
	network := regexp.MustCompile(`(?i)(https?:)?//[a-z]|<script|@import|url\(`)
	if m := network.FindString(got); m != "" {
		t.Errorf("the page reaches out: %s", m)
	}
	opened, closed := strings.Count(got, "<svg"), strings.Count(got, "</svg>")
	if opened != closed {
		t.Errorf("%d <svg> and %d </svg>", opened, closed)
	}
}

// TestEmpty draws what holds next to nothing.
func TestEmpty(t *testing.T) {
	h := new(model.History)
	h.Append(model.Event{Kind: model.Heal})
	for _, p := range []draw.Page{{History: h}, {History: new(model.History)}} {
		var out bytes.Buffer
		if err := p.WriteHTML(&out); err != nil || out.Len() == 0 {
			t.Error(err)
		}
		if err := p.WriteMermaid(&out); err != nil {
			t.Error(err)
		}
	}
}
