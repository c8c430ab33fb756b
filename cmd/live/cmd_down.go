package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

func (p *program) downCommand() *cobra.Command {
	keep := false
	c := &cobra.Command{
		Use:   "down",
		Short: "Stop the local stack and remove its data",
		Long: "Down stops the servers that `live up` started, and nothing else, and removes\n" +
			"their data. Where nothing is up it says so and has status 0.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.down(c.Context(), keep) },
	}
	p.addDir(c)
	c.Flags().BoolVar(&keep, "keep", false, "keep data and logs; `live up` starts on them again")
	return c
}

func (p *program) down(ctx context.Context, keep bool) error {
	s, err := stack.Open(p.dir)
	if stack.Absent(err) {
		return p.say(downLine{Kind: "down", Dir: p.dir}, "nothing is up in %s", p.dir)
	}
	if err != nil {
		return notRun(err)
	}
	stopped, err := s.Down(ctx, keep)
	if err != nil && ctx.Err() != nil {
		return exit{statusUndecided, errors.New("interrupted: run `live down` again")}
	}
	if err != nil {
		return notRun(err)
	}
	l := downLine{
		Kind: "down", Dir: s.Dir(), Stopped: stopped.Names, Gone: stopped.Gone,
		Others: len(stopped.Others), Kept: keep,
	}
	return p.say(l, "%s", l.text())
}

// downLine is what `down --json` prints.
type downLine struct {
	Kind    string   `json:"kind"` // down
	Dir     string   `json:"dir"`
	Stopped []string `json:"stopped,omitempty"`
	Gone    []string `json:"gone,omitempty"`   // had ended before
	Others  int      `json:"others,omitempty"` // processes of an `up` that was killed
	Kept    bool     `json:"kept,omitempty"`   // the data
}

func (l downLine) text() string {
	var parts []string
	if len(l.Stopped) > 0 {
		parts = append(parts, "stopped "+strings.Join(l.Stopped, ", "))
	}
	if len(l.Gone) > 0 {
		parts = append(parts, "not running: "+strings.Join(l.Gone, ", "))
	}
	if l.Others > 0 {
		parts = append(parts, fmt.Sprintf("stopped %d of a `live up` that was killed", l.Others))
	}
	if l.Kept {
		parts = append(parts, "data and logs are in "+l.Dir)
	}
	return strings.Join(parts, "; ")
}
