package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// lab runs the isolation lab in a worker and returns what its readers saw.
func lab(ctx context.Context, f *fleet) ([]string, error) {
	m, err := f.do(ctx, job{
		scene: scene{World: worlds.LabWorld}, Schedule: worlds.IsolationLab().String(),
	}, func(tally) {})
	if err != nil {
		return nil, notRun("the isolation lab: %w", err)
	}
	h, err := model.Read(strings.NewReader(m.Replay.History))
	if err != nil {
		return nil, notRun("the isolation lab: %w", err)
	}
	return worlds.LabReport(h), nil
}

// printLab prints the lab's lines below the hop table.
func (p *program) printLab(lines []string) {
	if p.json || len(lines) == 0 {
		return
	}
	fmt.Fprint(p.out,
		"\nisolation lab (hop 4; one transaction aborts, the next commits the same):\n")
	for _, l := range lines {
		fmt.Fprintf(p.out, "  %s\n", l)
	}
}
