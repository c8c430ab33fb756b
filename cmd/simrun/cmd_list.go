package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim/mutants"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// listed is something in a registry.
type listed struct {
	Kind  string `json:"kind"` // world, mutant, promise, fault, spec
	Name  string `json:"name"`
	Says  string `json:"says"`
	Where string `json:"where,omitempty"` // the hop, world or worlds that it is of
	More  string `json:"more,omitempty"`  // claim, or promise that it breaks
}

// registries are what `list` knows, by the word that asks for it.
var registries = []struct {
	word string
	list func() []listed
}{
	{"worlds", listWorlds}, {"mutants", listMutants},
	{"promises", listPromises}, {"faults", listFaults}, {"specs", listSpecs},
}

func listWorlds() []listed {
	var all []listed
	for _, e := range worlds.All() {
		all = append(all, listed{"world", e.Name, e.Says, "hop " + e.HopText(), e.Claim})
	}
	return all
}

func listMutants() []listed {
	var all []listed
	for _, m := range mutants.All() {
		all = append(all, listed{"mutant", m.Name, m.Says, m.Case + ", in " + m.World.Name,
			"breaks " + m.Breaks})
	}
	return all
}

// listPromises lists promises once, with the worlds that make them.
func listPromises() []listed {
	var all []listed
	at := make(map[string]int)
	for _, e := range worlds.All() {
		for _, p := range e.AllPromises() {
			i, ok := at[p.Name]
			if !ok {
				at[p.Name] = len(all)
				all = append(all, listed{"promise", p.Name, p.Says, e.Name, ""})
				continue
			}
			all[i].Where += ", " + e.Name
		}
	}
	return all
}

func listFaults() []listed {
	var all []listed
	for _, v := range schedule.Verbs() {
		all = append(all, listed{"fault", v.Name, v.Says, "", v.Usage})
	}
	return all
}

func listSpecs() []listed {
	var all []listed
	for _, e := range specs.All() {
		more := strings.Join(e.Promises, " ")
		for _, set := range e.Params {
			more += fmt.Sprintf(" --set %s=%d (%s).", set.Name, set.Default, set.Says)
		}
		for _, b := range e.Bugs {
			more += fmt.Sprintf(" --bug %s: %s.", b.Name, b.Says)
		}
		all = append(all, listed{"spec", e.Name, e.Says, "", strings.TrimSpace(more)})
	}
	return all
}

func (p *program) listCommand() *cobra.Command {
	var words []string
	for _, r := range registries {
		words = append(words, r.word)
	}
	return &cobra.Command{
		Use:       "list [" + strings.Join(words, "|") + "]",
		Short:     "List what there is",
		ValidArgs: words,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("want one of %s", strings.Join(words, ", "))
			}
			for _, r := range registries {
				if len(args) == 0 || args[0] == r.word {
					return nil
				}
			}
			return fmt.Errorf("nothing is called %q%s; there are %s",
				args[0], schedule.DidYouMean(args[0], words), strings.Join(words, ", "))
		},
		RunE: func(_ *cobra.Command, args []string) error {
			for i, r := range registries {
				if len(args) == 1 && args[0] != r.word {
					continue
				}
				if len(args) == 0 && !p.json {
					title := strings.ToUpper(r.word[:1]) + r.word[1:]
					fmt.Fprint(p.out, strings.Repeat("\n", min(i, 1)), title, "\n")
				}
				if err := p.printListed(r.list()); err != nil {
					return notRun("writing the list: %w", err)
				}
			}
			return nil
		},
	}
}

func (p *program) printListed(all []listed) error {
	if p.json {
		e := json.NewEncoder(p.out)
		e.SetEscapeHTML(false)
		for _, l := range all {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	colour := palette(colours(p.out))
	for _, l := range all {
		name := "  " + colour.head(l.Name)
		where := "(" + l.Where + ")"
		switch {
		case l.Where == "":
			name += "\n"
		case width("  "+l.Name+" "+where) <= columns:
			name += colour.faint(" "+where) + "\n"
		default:
			name += "\n" + colour.faint(foldList(strings.Split(where, ", "), "      "))
		}
		text := name + fold(l.Says, "      ")
		if l.More != "" {
			text += fold(l.More, "      ")
		}
		if _, err := io.WriteString(p.out, text); err != nil {
			return err
		}
	}
	return nil
}
