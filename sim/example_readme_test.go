//go:build synctests

package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
)

// README.md shows this test as it stands here; TestReadme compares the two.

func TestShouter(t *testing.T) {
	sim.Check(t, sim.World{
		Name:      "shouter",
		Topics:    []sim.Topic{{Name: "words", Partitions: 1}, {Name: "shouts", Partitions: 1}},
		Processes: []sim.Process{{Name: "shout", Replicas: 2, Run: shout}},
		Groups:    []string{"shouter"},
		Input:     words,
		Promises: []props.Property{
			props.CommitMonotonic("shouter"), props.Drains("words", "shouter"),
		},
		Sometimes: []props.Sometimes{props.SometimesCrash(), props.SometimesRebalance("shouter")},
		Drained: func(v *model.View) bool {
			return v.Committed("shouter", "words", 0) >= v.End("words", 0)
		},
	})
}

// words is what flows into shout.
func words(*rand.Rand) []sim.Input {
	in := make([]sim.Input, 20)
	for i := range in {
		at := time.Duration(i) * time.Second
		in[i] = sim.Input{At: at, Topic: "words", Value: fmt.Appendf(nil, "word %d", i)}
	}
	return in
}

func TestReadme(t *testing.T) {
	code, err := os.ReadFile("example_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(code), "\nfunc TestShouter(")
	example, _, _ = strings.Cut(example, "\n}\n")
	if !strings.Contains(string(readme), "```go\nfunc TestShouter("+example+"\n}\n```\n") {
		t.Error("README.md shows another TestShouter: copy the one from example_readme_test.go")
	}
}
