package sim

import (
	"flag"
	"os"
	"testing"
)

// WithFrame gives f the *testing.T that virtual time needs, in a plain program: a
// run cannot do without one, and only the testing package makes it. The program
// ends when f returns, with the status that f returns; what the testing package
// prints ("PASS") goes to standard output, so keep that apart from results.
//
// Call it once, from main. It parses no flags of the command line.
func WithFrame(f func(t *testing.T) (status int)) {
	testing.Init()
	if err := flag.CommandLine.Parse(nil); err != nil {
		panic("sim: parsing no flags: " + err.Error())
	}
	test := testing.InternalTest{Name: "hopcheck", F: func(t *testing.T) { os.Exit(f(t)) }}
	match := func(string, string) (bool, error) { return true, nil }
	testing.Main(match, []testing.InternalTest{test}, nil, nil)
}
