//go:build synctests

package worlds

import (
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// TestA1 runs the right player through twmb/franz-go#1217: a batch is appended and
// answered with REQUEST_TIMED_OUT, its records' time is over before the batch goes
// out again, and the events are sent again. A client that forgets the batch gives
// its sequence numbers to the next one; the broker takes that for a duplicate, and
// acks it at the offsets of other records. With both of franz-go's guards against it
// taken out (v1.22.3: unsureIfProduced, the new epoch in failAllRecords) this
// schedule breaks acked-is-stored.
func TestA1(t *testing.T) {
	s, err := schedule.Load("testdata/A1.schedule")
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t, Player(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Broken) > 0 {
		t.Errorf("broken: %v", r.Broken)
	}
	if len(r.Unfired) > 0 {
		t.Errorf("the case did not come about: never struck: %v", r.Unfired)
	}
	appended, gaveUp, acked := false, 0, 0
	for i := range r.History.Events() {
		e := &r.History.Events()[i]
		if e.Proc != "player/0" {
			continue
		}
		switch {
		case e.Kind == model.Reply && e.Op == "Produce" && e.Nth == 11:
			appended = e.Outcome == model.Unknown && e.Parts[0].Offset >= 0
		case e.Kind == model.Note && e.Op == "answer" && e.Outcome == model.Unknown:
			gaveUp++
		case e.Kind == model.Note && e.Op == "ack" && e.Outcome == model.Done && gaveUp > 0:
			acked++
		}
	}
	if !appended || gaveUp == 0 || acked < 2*gaveUp {
		t.Errorf("the case did not come about: appended %v, given up %d, acked after that %d "+
			"(of either send)", appended, gaveUp, acked)
	}
}
