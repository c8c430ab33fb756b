package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// maxResultLine bounds a line of results, in bytes.
const maxResultLine = 16 << 20

func (p *program) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge RESULTS...",
		Short: "Add up what shards printed with --json",
		Long: "Merge reads the lines that `simrun run --shard i/n --json` printed on each\n" +
			"machine and adds them up. What a shard is missing from is not decided.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("want files of results, as `simrun run --json` prints them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var m merging
			for _, path := range args {
				if err := m.load(path); err != nil {
					return err
				}
			}
			lines := m.finish()
			if len(lines) == 0 {
				return wrongUse("no line of kind world in %s", strings.Join(args, ", "))
			}
			sum := summary(lines, 0)
			for _, l := range lines {
				sum.WallS += l.WallS
			}
			if p.json {
				if err := p.printJSON(append(lines, sum)); err != nil {
					return err
				}
			} else {
				printMerged(p.out, lines, sum)
			}
			return ended(statusOf(lines))
		},
	}
}

func printMerged(w io.Writer, lines []line, sum line) {
	colour := palette(colours(w))
	hopTable{colour, w}.print(lines)
	printCoverage(w, colour, lines)
	for _, l := range lines {
		if l.Promise != "" {
			fmt.Fprintf(w, "\nbroken: %s: %s\n  %s\n", l.Promise, l.Witness,
				strings.Join(l.Faults, "\n  "))
			if l.File != "" {
				fmt.Fprintf(w, "replay: %s\n", replayCommand(l.File, ""))
			}
		}
	}
	fmt.Fprintf(w, "\n%s: %s, %s, %s virtual, seed %d\n", colour.verdict(sum.Verdict),
		plural(sum.Schedules, "schedule"), plural(sum.Kills, "kill"), span(sum.VirtualS), sum.Seed)
}

// merging is lines that are added up, by world and mutant, in the order in which
// they came.
type merging struct {
	keys  []string
	parts map[string][]part
}

// part is a line and its shard.
type part struct {
	line
	shard shard
	from  string
}

func (m *merging) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return wrongUse("reading results: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxResultLine)
	number := 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		at := fmt.Sprintf("%s:%d", path, number)
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return wrongUse("%s: no line of results: %w", at, err)
		}
		switch l.Kind {
		case "summary":
			continue // made anew
		case "world":
		default:
			return wrongUse("%s: cannot add up results of kind %q", at, l.Kind)
		}
		s, err := parseShard(l.Shard)
		if err != nil {
			return wrongUse("%s: %w", at, err)
		}
		if err := m.add(part{l, s, at}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return wrongUse("%s:%d: %w", path, number+1, err)
	}
	if number == 0 {
		return wrongUse("%s: the file is empty", path)
	}
	return nil
}

// add refuses what does not belong to the same campaign, or is there twice.
func (m *merging) add(p part) error {
	if m.parts == nil {
		m.parts = make(map[string][]part)
	}
	key := fullName(p.line)
	for _, o := range m.parts[key] {
		switch {
		case o.Seed != p.Seed:
			return wrongUse("%s: seed %d, but %s has %d: not of one campaign",
				p.from, p.Seed, o.from, o.Seed)
		case o.shard.n != p.shard.n:
			return wrongUse("%s: shard %s, but %s is of %d shards",
				p.from, p.shard, o.from, o.shard.n)
		case o.shard == p.shard:
			return wrongUse("%s: shard %s of world %s is in %s already",
				p.from, p.shard, key, o.from)
		}
	}
	if m.parts[key] == nil {
		m.keys = append(m.keys, key)
	}
	m.parts[key] = append(m.parts[key], p)
	return nil
}

// finish adds up, in the order of shards.
func (m *merging) finish() []line {
	var lines []line
	for _, key := range m.keys {
		parts := m.parts[key]
		slices.SortFunc(parts, func(a, b part) int { return a.shard.i - b.shard.i })
		sum := parts[0].line
		for _, p := range parts[1:] {
			sum.merge(p.line)
		}
		sum.Shard = ""
		sum.judge()
		if n := parts[0].shard.n; len(parts) < n && sum.Promise == "" {
			sum.Verdict = undecided
			sum.Says = fmt.Sprintf("results of %d of %d shards", len(parts), n)
		}
		lines = append(lines, sum)
	}
	return lines
}
