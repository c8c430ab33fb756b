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

	"github.com/hopcheck/hopcheck/sim"
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

// notRun is an error of a run that could not take place.
func notRun(format string, args ...any) error {
	return exit{statusNotRun, fmt.Errorf(format, args...)}
}

// ended is the end of a command that said all it had to say.
func ended(status int) error {
	if status == 0 {
		return nil
	}
	return exit{status: status}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerCommand {
		work(os.Stdin, os.Stdout) // does not return
	}
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
	fmt.Fprintln(to.err, "simrun:", strings.TrimSpace(err.Error()))
	return status
}

// program is what all commands share.
type program struct {
	streams
	json bool
}

func newRoot(to streams) *cobra.Command {
	p := &program{streams: to}
	root := &cobra.Command{
		Use:   "simrun",
		Short: "Crash Kafka programs in virtual time and judge what comes of it",
		Long: "Simrun runs worlds of Kafka programs in virtual time, kills the programs\n" +
			"where they touch the outside, and judges what comes of it. Without a\n" +
			"command it runs every world for some seconds and prints the hop table.",
		SilenceErrors: true, SilenceUsage: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVar(&p.json, "json", false, "print one JSON object a line")
	root.SetFlagErrorFunc(flagError)
	p.addTour(root)
	root.AddCommand(p.runCommand(), p.replayCommand(), p.mutantsCommand(), p.judgeCommand(),
		p.reportCommand(), p.checkCommand(), p.listCommand(), p.mergeCommand(),
		p.eventsCommand(), p.exploreCommand())
	return root
}

// canSimulate refuses a build that cannot, before anything else is looked at.
func canSimulate(*cobra.Command, []string) error {
	if sim.Simulates {
		return nil
	}
	return exit{statusNotRun, sim.ErrNeedsTag}
}
