package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Schedule is everything that a run is made from, apart from the programs: which
// world, with which mutant, which seed for the workload, and what goes wrong.
type Schedule struct {
	World  string
	Mutant string // "": the right programs
	Seed   uint64
	Digest string // of the history that the run gave, 16 hex digits; "": not known
	Faults []Fault
}

// headers are the words that a header line begins with, in canonical order.
var headers = []string{"world", "mutant", "seed", "digest"}

// String returns the schedule as the text of a file, in the one form that [Parse]
// gives back byte by byte.
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "world %s\n", s.World)
	if s.Mutant != "" {
		fmt.Fprintf(&b, "mutant %s\n", s.Mutant)
	}
	fmt.Fprintf(&b, "seed %d\n", s.Seed)
	if s.Digest != "" {
		fmt.Fprintf(&b, "digest %s\n", s.Digest)
	}
	for _, f := range s.Faults {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Check returns an error if a fault names a process that is not among procs. A
// fault of such a process could never fire, and a run that it did nothing to
// would look like a run that survived it.
func (s Schedule) Check(procs []string) error {
	for _, f := range s.Faults {
		name := f.At().Proc
		if slices.Contains(procs, name) {
			continue
		}
		there := slices.Sorted(slices.Values(procs))
		return fmt.Errorf("world %s has no process %q%s; it has %s (in the fault: %s)",
			s.World, name, DidYouMean(name, there), strings.Join(there, ", "), f)
	}
	return nil
}
