package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

// serverLine is a server as --json prints it. What does not apply is left out.
type serverLine struct {
	Kind    string  `json:"kind"` // server
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Address string  `json:"address"`
	PID     int     `json:"pid,omitempty"`
	Running bool    `json:"running"`
	Answers bool    `json:"answers"`
	Says    string  `json:"says,omitempty"` // why it does not answer
	ReadyS  float64 `json:"ready_s"`        // from its start until it answered
	Memory  int64   `json:"rss_bytes,omitempty"`
}

// environmentLine is what `up --json` prints last.
type environmentLine struct {
	Kind  string            `json:"kind"` // environment
	Dir   string            `json:"dir"`
	WallS float64           `json:"wall_s"`
	Env   map[string]string `json:"env"`
}

func newServerLine(srv stack.Server) serverLine {
	return serverLine{
		Kind: "server", Name: srv.Name, Version: srv.Version, Address: srv.Address,
		PID: srv.Process.PID, ReadyS: milli(srv.ReadyS),
	}
}

// write writes a line as JSON.
func (p *program) write(line any) error {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}

// say prints a line for a program, or a text for people.
func (p *program) say(line any, format string, args ...any) error {
	var err error
	if p.json {
		err = p.write(line)
	} else {
		_, err = fmt.Fprintf(p.out, format+"\n", args...)
	}
	if err != nil {
		return notRun(fmt.Errorf("writing what was done: %w", err))
	}
	return nil
}

func milli(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// titles are the servers' kinds as people call them.
var titles = map[stack.Kind]string{
	stack.Kafka: "Apache Kafka", stack.Postgres: "PostgreSQL", stack.S3: "versitygw (S3)",
}

// printUp prints the environment as a shell reads it, and the rest as its comments.
func (p *program) printUp(st stack.State, dir string, took time.Duration) error {
	env := environmentLine{
		Kind: "environment", Dir: dir, WallS: milli(took.Seconds()), Env: make(map[string]string),
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, srv := range st.Servers {
		l := newServerLine(srv)
		l.Running, l.Answers = true, true
		if p.json {
			if err := p.write(l); err != nil {
				return err
			}
		}
		fmt.Fprintf(table, "# %s\t%s %s\t%s\tready in %.1f s\n",
			srv.Name, titles[srv.Kind], srv.Version, srv.Address, srv.ReadyS)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, v := range st.Environment() {
		env.Env[v.Name] = v.Value
		fmt.Fprintf(&text, "export %s='%s'\n", v.Name, v.Value)
	}
	if p.json {
		return p.write(env)
	}
	_, err := fmt.Fprintf(p.out, "# up after %.1f s in %s; `live down` stops it\n%s",
		took.Seconds(), dir, &text)
	return err
}

func (p *program) printStatus(all []stack.Health) error {
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, h := range all {
		l := newServerLine(h.Server)
		l.Running, l.Answers, l.Memory = h.Running, h.Running && h.Answer == nil, h.Memory
		state := "answers"
		switch {
		case !h.Running:
			state = "does not run"
		case h.Answer != nil:
			l.Says = h.Answer.Error()
			state = "does not answer: " + l.Says
		}
		if p.json {
			if err := p.write(l); err != nil {
				return err
			}
			continue
		}
		process := "-\t-"
		if h.Running {
			process = fmt.Sprintf("process %d\t%d MB", l.PID, h.Memory>>20)
		}
		fmt.Fprintf(table, "%s\t%s %s\t%s\t%s\t%s\n", l.Name, titles[h.Server.Kind],
			l.Version, l.Address, process, state)
	}
	return table.Flush()
}

// gauge is one line on a terminal that rewrites itself; without a terminal it is
// nil and does nothing. It may be used by several goroutines at once.
type gauge struct {
	w     io.Writer
	began time.Time
	mu    sync.Mutex
	shown int // columns
}

func newGauge(w io.Writer) *gauge {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	null, err := os.Stat(os.DevNull) // a character device that nobody reads
	if err == nil && os.SameFile(info, null) {
		return nil
	}
	return &gauge{w: w, began: time.Now()}
}

// show writes what is being done.
func (g *gauge) show(doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	text := fmt.Sprintf("%.0f s: %s", time.Since(g.began).Seconds(), doing)
	fmt.Fprint(g.w, "\r"+text+strings.Repeat(" ", max(0, g.shown-len(text))))
	g.shown = len(text)
}

// clear takes the line away.
func (g *gauge) clear() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprint(g.w, "\r"+strings.Repeat(" ", g.shown)+"\r")
	g.shown = 0
}
