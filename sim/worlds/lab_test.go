//go:build synctests

package worlds

import (
	"testing"

	"github.com/hopcheck/hopcheck/sim"
)

// TestIsolationLab shows that an aborted transaction is there, that read_uncommitted
// sees it and read_committed does not.
func TestIsolationLab(t *testing.T) {
	e, err := Named(LabWorld)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t, e.World, IsolationLab())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Broken) > 0 {
		t.Fatal(r.Broken)
	}
	committed := copiesSeen(r.History, "reader/0")
	uncommitted := copiesSeen(r.History, "uncommitted/0")
	if committed.repeats != 0 || uncommitted.repeats == 0 || committed.records == 0 {
		t.Errorf("read_committed %+v, read_uncommitted %+v", committed, uncommitted)
	}
	for _, line := range LabReport(r.History) {
		t.Log(line)
	}
}
