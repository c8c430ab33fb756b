package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// The exit statuses, apart from 0.
const (
	statusBroken    = 1
	statusWrongUse  = 2
	statusNotRun    = 3
	statusUndecided = 4
)

// exit ends a command with a status. Without err there is nothing left to say.
type exit struct {
	status int
	err    error
}

func (e exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// wrongUse is an error of the command line or of a file, said in one line.
func wrongUse(format string, args ...any) error {
	return exit{statusWrongUse, fmt.Errorf(format, args...)}
}

// notRun is an error of something that could not take place.
func notRun(err error) error { return exit{statusNotRun, err} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], streams{out: os.Stdout, err: os.Stderr}))
}

// streams is where a command writes.
type streams struct{ out, err io.Writer }

// run is the program in one call: it returns the exit status.
func run(ctx context.Context, args []string, to streams) int {
	root := newRoot(to)
	root.SetArgs(args)
	root.SetOut(to.out)
	root.SetErr(to.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	status := statusWrongUse // what cobra itself finds is wrong use
	var e exit
	if errors.As(err, &e) {
		if e.err == nil {
			return e.status
		}
		status = e.status
	}
	fmt.Fprintln(to.err, "live:", strings.TrimSpace(err.Error()))
	return status
}

// program is what all commands share.
type program struct {
	streams
	json bool
	dir  string
}

func newRoot(to streams) *cobra.Command {
	p := &program{streams: to}
	root := &cobra.Command{
		Use:   "live",
		Short: "Run the hops against real servers",
		Long: "Live runs the hops on real servers, as processes that are killed at the boundary\n" +
			"events of a schedule, and judges what is there then. It can start such servers,\n" +
			"Apache Kafka, PostgreSQL and an S3 server, as plain processes of this machine.",
		Args: func(c *cobra.Command, args []string) error {
			var names []string
			for _, sub := range c.Commands() {
				names = append(names, sub.Name())
			}
			if len(args) > 0 {
				return fmt.Errorf("there is no command %q%s; `live help` lists them",
					args[0], schedule.DidYouMean(args[0], names))
			}
			return nil
		},
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true, SilenceUsage: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print one JSON object a line")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(p.upCommand(), p.downCommand(), p.statusCommand(),
		p.runCommand(), p.auditCommand(), p.cleanCommand(), p.processCommand())
	return root
}

// addDir adds the flag of the commands that are about the local stack.
func (p *program) addDir(c *cobra.Command) {
	c.Flags().StringVar(&p.dir, "dir", ".live", "folder of the local stack")
}
