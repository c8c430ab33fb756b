package draw

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageRow is a row as the page shows it.
type pageRow struct {
	Seq      int64
	At       string
	Class    string
	Lanes    template.HTML
	Text     string // the event as a line of a history
	Promises string // of a witness
}

// pageBroken is a broken promise as the page shows it.
type pageBroken struct {
	Promise, Says string
	Witnesses     []pageWitness
	More          int // witnesses that are not shown
}

type pageWitness struct {
	Text string
	Seqs []int64
}

// Limits on what a page shows.
const (
	pageWitnesses = 12
	pageSeqs      = 12
	pageLine      = 2000 // runes of an event's text
)

// WriteHTML writes a page that a browser shows without a network. The same page
// gives the same bytes.
func (p Page) WriteHTML(w io.Writer) error {
	s := newScene(p)
	view := struct {
		Title, Verdict, Schedule, Digest, Length string
		Events, Routine                          int
		Broken                                   []pageBroken
		Head                                     template.HTML
		Rows                                     []pageRow
		Wide                                     int
	}{
		Title: "history", Schedule: strings.TrimSpace(p.Schedule), Digest: p.History.Digest(),
		Events: p.History.Len(), Broken: p.brokenPromises(), Head: s.head(), Wide: s.wide(),
	}
	if p.World != "" {
		view.Title = p.World
	}
	if p.Judged {
		view.Verdict = "held"
		if len(p.Broken) > 0 {
			view.Verdict = "broken"
		}
	}
	for _, r := range s.rows {
		row := pageRow{
			Seq: r.event.Seq, At: seconds(r.event), Lanes: s.draw(r), Class: "row",
			Text:     shorten(string(model.AppendText(nil, r.event)), pageLine),
			Promises: strings.Join(r.witness, ", "),
		}
		if r.routine {
			row.Class += " routine"
			view.Routine++
		}
		if row.Promises != "" {
			row.Class += " witness"
		}
		view.Rows = append(view.Rows, row)
		view.Length = row.At
	}
	return pageTemplate.Execute(w, view)
}

// brokenPromises groups what is broken by promise, in order.
func (p Page) brokenPromises() []pageBroken {
	var all []pageBroken
	for _, b := range p.Broken {
		if len(all) == 0 || all[len(all)-1].Promise != b.Promise {
			all = append(all, pageBroken{Promise: b.Promise, Says: p.Says[b.Promise]})
		}
		last := &all[len(all)-1]
		if len(last.Witnesses) == pageWitnesses {
			last.More++
			continue
		}
		seqs := b.Seqs[:min(len(b.Seqs), pageSeqs)]
		last.Witnesses = append(last.Witnesses, pageWitness{Text: b.Witness, Seqs: seqs})
	}
	return all
}

// seconds is the time of an event.
func seconds(e *model.Event) string { return fmt.Sprintf("%.3f s", e.At.Seconds()) }
