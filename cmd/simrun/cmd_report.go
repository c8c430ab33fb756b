package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// The forms of a report, by the endings of files that ask for them.
var formOf = map[string]string{
	".html": "html", ".htm": "html", ".mmd": "mermaid", ".mermaid": "mermaid",
	".txt": "text", ".text": "text",
}

func (p *program) reportCommand() *cobra.Command {
	var out, format, world string
	c := &cobra.Command{
		Use:   "report HISTORY [-o OUT] [--format html|mermaid|text]",
		Short: "Draw a history",
		Long: "Report draws a history: as a page that a browser shows without a network,\n" +
			"as a Mermaid sequence diagram, or as the text of its important part.\n" +
			"Witnesses of broken promises are marked, by the promises of --world or of\n" +
			"the world in the schedule beside the history. Without --format the ending\n" +
			"of OUT decides (.html, .mmd, .txt), and without OUT it is text.",
		Args: oneFile("HISTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			if format == "" {
				format = "text"
				if out != "" {
					format = "html"
				}
				if f, ok := formOf[strings.ToLower(filepath.Ext(out))]; ok {
					format = f
				}
			}
			write, err := p.report(args[0], world, format)
			if err != nil {
				return err
			}
			if out == "" {
				err = write(p.out)
			} else {
				err = saveWhole(out, write)
			}
			if err != nil {
				return notRun("%w", err)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	c.Flags().StringVar(&format, "format", "", "html, mermaid or text")
	c.Flags().StringVar(&world, "world", "", "world whose promises to judge by")
	return c
}

// report returns what writes the drawing of a history.
func (p *program) report(path, world, format string) (func(io.Writer) error, error) {
	if format != "html" && format != "mermaid" && format != "text" {
		return nil, wrongUse("--format %q: want html, mermaid or text", format)
	}
	h, err := loadHistory(path)
	if err != nil {
		return nil, err
	}
	s, err := sceneOf(world, path)
	if err != nil {
		return nil, err
	}
	var w sim.World
	if s.World != "" {
		if w, err = s.build(); err != nil {
			return nil, exit{statusWrongUse, err}
		}
	}
	page := pageOf(w, h)
	base := strings.TrimSuffix(path, historyEnding)
	if plan, err := schedule.Load(base + scheduleEnding); err == nil {
		page.Schedule = plan.String()
	}
	switch format {
	case "html":
		return page.WriteHTML, nil
	case "mermaid":
		return page.WriteMermaid, nil
	}
	return func(to io.Writer) error {
		for _, b := range page.Broken {
			fmt.Fprintf(to, "broken: %s: %s\n", b.Promise, b.Witness)
		}
		if page.Judged && len(page.Broken) == 0 {
			fmt.Fprintf(to, "every promise of world %s held\n", page.World)
		}
		_, err := fmt.Fprintf(to, "history of %s, digest %s (> marks witnesses):\n%s",
			plural(h.Len(), "event"), h.Digest(), sim.Excerpt(h, page.Broken))
		return err
	}, nil
}
