package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// flagError adds the flag that was probably meant to what cobra says.
func flagError(c *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return wrongUse("%w", err)
	}
	var all []string
	c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	hint := schedule.DidYouMean(name, all)
	if hint != "" {
		hint = strings.Replace(hint, `"`, `"--`, 1)
	}
	return wrongUse("unknown flag --%s%s; `%s --help` lists them", name, hint, c.CommandPath())
}
