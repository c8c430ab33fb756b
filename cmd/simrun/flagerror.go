package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError adds the flag that was probably meant to what cobra says.
func flagError(c *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return wrongUse("%w", err)
	}
	var all []string
	c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	hint := didYouMean(name, all)
	if hint != "" {
		hint = strings.Replace(hint, `"`, `"--`, 1)
	}
	return wrongUse("unknown flag --%s%s; `%s --help` lists them", name, hint, c.CommandPath())
}

// didYouMean names the one of all that is closest to what was typed, if any is.
func didYouMean(typed string, all []string) string {
	best, least := "", 1+len(typed)/3
	for _, name := range all {
		if d := distance(typed, name); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
