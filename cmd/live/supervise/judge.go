package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/audit"
	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// auditIn bounds the audit of a run.
const auditIn = 3 * time.Minute

// Verdict is what a run came to.
type Verdict struct {
	History *model.History
	Broken  []props.Broken
	// Held are the promises that hold, by name; Open are those that an interrupted run
	// cannot be judged by.
	Held, Open []string
	// Kills counts the crashes of the schedule by boundary event, "after request
	// OffsetCommit". Others counts those that nobody asked for.
	Kills  map[string]int
	Others int
	// Unfired are the faults whose point never came.
	Unfired []string
	// Records and Objects are how many the audit read.
	Records, Objects int
}

// Judge merges what the lives of a run wrote, audits the servers, writes the history, and
// judges it. An interrupted run is not judged by what must be in the end.
func Judge(ctx context.Context, f Folder, env []string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, auditIn)
	defer cancel()
	m, err := f.Manifest()
	if err != nil {
		return Verdict{}, err
	}
	w, err := worlds.Named(m.World)
	if err != nil {
		return Verdict{}, err
	}
	s, err := f.Schedule()
	if err != nil {
		return Verdict{}, err
	}
	names := worlds.Names{ID: m.ID}
	boundary := names.Boundary(w)
	h, err := f.Merge(boundary)
	if err != nil {
		return Verdict{}, err
	}
	cl, err := m.Target.Client()
	if err != nil {
		return Verdict{}, err
	}
	defer cl.Close()
	store, err := m.Target.Store(names.Objects(), env)
	if err != nil {
		return Verdict{}, err
	}
	var topics []string
	for _, t := range w.Topics {
		topics = append(topics, names.Of(t.Name))
	}
	if err := stack.InSync(ctx, cl, topics...); err != nil {
		return Verdict{}, err
	}
	seen, err := audit.NewReader(cl, store, w, names).Observe(ctx, boundary)
	if err != nil {
		return Verdict{}, fmt.Errorf("the audit: %w", err)
	}
	for _, e := range seen {
		e.At = proc.Now() - m.Began
		boundary.Rename(&e)
		h.Append(e)
	}
	if err := save(h, f.History()); err != nil {
		return Verdict{}, err
	}
	return verdict(w, s, h, m.Ended), nil
}

func save(h *model.History, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	if err := errors.Join(h.WriteJSONL(out), out.Close()); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

func verdict(w worlds.World, s schedule.Schedule, h *model.History, ended bool) Verdict {
	v := Verdict{History: h, Kills: make(map[string]int)}
	for _, p := range w.AllPromises() {
		broken := p.Check(h)
		switch {
		case !ended && atTheEnd(p.Name):
			v.Open = append(v.Open, p.Name)
		case len(broken) == 0:
			v.Held = append(v.Held, p.Name)
		default:
			v.Broken = append(v.Broken, props.Judge(h, []props.Property{p})...)
		}
	}
	fired := make(map[string]bool)
	for i := range h.Events() {
		e := &h.Events()[i]
		fired[e.Note] = true
		switch e.Kind {
		case model.Crash:
			f, err := schedule.ParseFault(e.Note)
			if err != nil {
				v.Others++
				continue
			}
			v.Kills[where(f)]++
		case model.Observe:
			v.Objects += btoi(e.Op == "object")
			for j := range e.Parts {
				v.Records += btoi(e.Op == "log") * len(e.Parts[j].Records)
			}
		}
	}
	for _, f := range s.Faults {
		if !fired[f.String()] {
			v.Unfired = append(v.Unfired, f.String())
		}
	}
	return v
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// atTheEnd reports whether a promise is about what a run has come to in the end.
func atTheEnd(name string) bool {
	for _, stem := range []string{"drains/", "all-answered", "course-day"} {
		if strings.HasPrefix(name, stem) {
			return true
		}
	}
	return false
}

// where names the boundary event of a crash without its place in the run.
func where(f schedule.Fault) string {
	when := "before"
	if f.Action().After {
		when = "after"
	}
	return when + " " + string(f.At().Kind) + " " + f.At().Op
}
