package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/supervise"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
)

// processCommand is one life of a process of a run. `live run` starts it; it is no command
// for people.
func (p *program) processCommand() *cobra.Command {
	var run, replica string
	var number int
	var healed bool
	c := &cobra.Command{
		Use: "process", Hidden: true, Args: cobra.NoArgs,
		Short: "Be one process of a run (`live run` starts it)",
		RunE: func(c *cobra.Command, _ []string) error {
			if run == "" || replica == "" || number < 1 {
				return wrongUse("`live run` starts processes")
			}
			return p.process(c.Context(), supervise.Folder(run), proc.Life{
				Proc: replica, Number: number,
			}, healed)
		},
	}
	c.Flags().StringVar(&run, "run", "", "folder of the run")
	c.Flags().StringVar(&replica, "proc", "", "replica, such as landing/0")
	c.Flags().IntVar(&number, "life", 0, "which life of it, from 1")
	c.Flags().BoolVar(&healed, "healed", false, "faults have ended")
	return c
}

// process has a status of its own for an error: its supervisor starts another life.
func (p *program) process(
	ctx context.Context, f supervise.Folder, l proc.Life, healed bool,
) error {
	m, err := f.Manifest()
	if err != nil {
		return notRun(err)
	}
	if l.World, err = worlds.Named(m.World); err != nil {
		return notRun(err)
	}
	l.Names, l.Brokers, l.Began = worlds.Names{ID: m.ID}, m.Target.Brokers, m.Began
	if l.Store, err = m.Target.Store(l.Names.Objects(), nil); err != nil {
		return notRun(err)
	}
	s, err := f.Schedule()
	if err != nil {
		return notRun(err)
	}
	if !healed {
		l.Faults = s.Faults
	}
	l.Path = f.Events(l.Proc, l.Number)
	switch err := l.Run(ctx); {
	case errors.Is(err, proc.ErrAgain):
		return exit{status: statusUndecided}
	case err != nil:
		return exit{1, err}
	}
	return nil
}
