package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

func (p *program) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Say which servers of the local stack run and answer",
		Long: "Status asks every server of the local stack. Its status is 0 where all answer\n" +
			"and 3 where one does not, or there is no stack.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.status(c.Context()) },
	}
	p.addDir(c)
	return c
}

func (p *program) status(ctx context.Context) error {
	s, err := stack.Open(p.dir)
	if err != nil {
		return notRun(err)
	}
	all, err := s.Status(ctx)
	if err == nil {
		err = p.printStatus(all)
	}
	if err != nil {
		return notRun(err)
	}
	for _, h := range all {
		if !h.Running || h.Answer != nil {
			return exit{status: statusNotRun}
		}
	}
	return nil
}
