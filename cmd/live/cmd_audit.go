package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/audit"
	"github.com/hopcheck/hopcheck/cmd/live/supervise"
	"github.com/hopcheck/hopcheck/cmd/live/target"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
)

// pastRun is the flags of the commands that are about a run that is over.
type pastRun struct {
	id, out string
	yes     bool
}

func (r *pastRun) add(c *cobra.Command) {
	c.Flags().StringVar(&r.id, "run", "", "id of the run")
	c.Flags().StringVar(&r.out, "out", "run", "folder of what runs leave behind")
	c.Flags().BoolVar(&r.yes, "yes", false, "use servers of another machine")
}

// open finds the run, refuses one that goes on, and returns what its servers want.
func (r *pastRun) open(dir string) (
	f supervise.Folder, m supervise.Manifest, env []string, err error,
) {
	if r.id == "" {
		return "", m, nil, exit{statusWrongUse, errNoRun}
	}
	if f, m, err = supervise.Find(r.out, r.id); err != nil {
		return "", m, nil, exit{statusWrongUse, err}
	}
	if err := m.Target.Allow(r.yes); err != nil {
		return "", m, nil, exit{statusWrongUse, err}
	}
	release, err := f.Lock()
	if err != nil {
		return "", m, nil, notRun(err)
	}
	release()
	if m.Target.Stack != "" {
		dir = m.Target.Stack
	}
	_, env, err = target.Find(dir)
	if err != nil {
		return "", m, nil, notRun(err)
	}
	return f, m, env, nil
}

func (p *program) auditCommand() *cobra.Command {
	var r pastRun
	c := &cobra.Command{
		Use:   "audit",
		Short: "Judge what a run left behind",
		Long: "Audit reads what is really there of a run that was kept or interrupted, and\n" +
			"judges it with what its processes wrote.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.audit(c.Context(), r) },
	}
	p.addDir(c)
	r.add(c)
	return c
}

func (p *program) audit(ctx context.Context, r pastRun) error {
	began := time.Now()
	f, m, env, err := r.open(p.dir)
	if err != nil {
		return err
	}
	v, err := supervise.Judge(ctx, f, env)
	if err != nil {
		return notRun(err)
	}
	l := newRunLine(m.ID, m.World, f, v)
	l.WallS = milli(time.Since(began).Seconds())
	if s, err := f.Schedule(); err == nil {
		l.Seed = s.Seed
	}
	if err := p.printRun(l, f, v); err != nil {
		return err
	}
	if len(v.Broken) > 0 {
		return exit{status: statusBroken}
	}
	return nil
}

func (p *program) cleanCommand() *cobra.Command {
	var r pastRun
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove the topics, groups and objects of a run, and only those",
		Long: "Clean removes what a run made at the servers: whatever carries its id. The files\n" +
			"in its folder stay.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, m, env, err := r.open(p.dir)
			if err != nil {
				return err
			}
			if err := p.clean(c.Context(), m.Target, env, m.ID); err != nil {
				return notRun(err)
			}
			return nil
		},
	}
	p.addDir(c)
	r.add(c)
	return c
}

// cleanLine is what clean prints with --json.
type cleanLine struct {
	Kind    string   `json:"kind"` // clean
	Run     string   `json:"run"`
	Topics  []string `json:"topics,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Objects int      `json:"objects"`
}

// cleanIn bounds a clean: a group is there until its killed members are missed.
const cleanIn = 2 * time.Minute

func (p *program) clean(ctx context.Context, t target.Target, env []string, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanIn)
	defer cancel()
	cl, err := t.Client()
	if err != nil {
		return err
	}
	defer cl.Close()
	store, err := t.Store(worlds.Names{ID: id}.Objects(), env)
	if err != nil {
		return err
	}
	done, err := audit.Clean(ctx, cl, store, id)
	l := cleanLine{
		Kind: "clean", Run: id, Topics: done.Topics, Groups: done.Groups, Objects: done.Objects,
	}
	return errors.Join(err, p.say(l, "removed of run %s: %d topics, %d groups, %d objects",
		id, len(l.Topics), len(l.Groups), l.Objects))
}
