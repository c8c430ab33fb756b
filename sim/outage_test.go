//go:build synctests

package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// TestOutage takes the brokers away under two members: neither is heard until they
// are back, the request at which they went never arrives, and the world drains.
func TestOutage(t *testing.T) {
	const length = 14 * time.Second
	res := under(t, copierWorld(2, copier),
		"outage copier/0 life 1 at request OffsetCommit 2 for 14s")
	if !res.Drained || len(res.Broken) > 0 || len(res.Unfired) > 0 {
		t.Fatalf("drained %v, broken %v, unfired %v", res.Drained, res.Broken, res.Unfired)
	}
	var went, back time.Duration
	heard := 0
	for _, e := range res.History.Events() {
		switch {
		case e.Kind == model.Fault && strings.HasPrefix(e.Note, "outage"):
			went, back = e.At, e.At+length
		case went > 0 && e.At > went && e.At < back && strings.HasPrefix(e.Proc, "copier/") &&
			(e.Kind == model.Request || e.Kind == model.Reply):
			t.Errorf("a frame while the brokers were away: %s", e.Op)
		case back > 0 && e.At >= back && e.Kind == model.Reply && e.Proc == "copier/1":
			heard++
		case e.Kind == model.Request && e.Op == "OffsetCommit" && e.At == went:
			t.Error("the request at which the brokers went has arrived")
		}
	}
	if went == 0 || heard == 0 {
		t.Errorf("went at %v, %d replies to the other member afterwards", went, heard)
	}
}
