package specs

import (
	"slices"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
)

// somewhere is an end of which only that it is there matters: it is far from the faults.
const somewhere = "somewhere"

// TestLifted: what counterexamples are as schedules.
func TestLifted(t *testing.T) {
	for _, c := range []struct {
		spec, bug string
		want      []string
		end       string
	}{
		{"landing", commitFirst, nil, "crash landing/0 life 1 after request OffsetCommit 1"},
		{"landing", pollNamed, []string{"crash landing/0 life 1 after call put 1"},
			"crash landing/0 life 2 after call put 1"},
		{"landing", pastFailure, []string{"error landing/0 life 1 call put 1 unavailable"},
			"crash landing/0 life 1 after request OffsetCommit 1"},
		{"landing", zombieOverwrite, []string{"pause landing/0 life 1 at call put 1 for 50s"},
			"crash landing/1 life 1 after request OffsetCommit 1"},
		{"landing", commitLast, nil, ""}, // broken for good
		{"player", notIdempotent, []string{"lose player/0 life 1 reply Produce 1"},
			"crash player/0 life 1 after request Produce 2"},
		{"player", errorIsFailure, []string{"delay player/0 life 1 request Produce 1 by 50s"},
			"crash player/0 life 1 after request Produce 1"},
		{"validated", noGeneration,
			[]string{"pause validated/0 life 1 at request TxnOffsetCommit 1 for 50s"},
			"crash validated/1 life 1 after request EndTxn 1"},
		{"validated", replay, []string{"delay validated/0 life 1 reply EndTxn 1 by 50s"},
			somewhere},
		{"tile", replan, []string{"crash tile/0 life 1 after return putif 2"},
			"crash tile/0 life 2 after return putif 2"},
		{"tile", putOver, nil, "crash tile/1 life 1 after return put 2"},
		{"enrollment", lastID, []string{"delay registrar/0 life 1 return publish 2 by 50s"}, ""},
		{"enrollment", markFirst, nil, "crash poller/0 life 1 after call mark 1"},
		{"enrollment", equalApplied, []string{"delay poller/0 life 1 reply Produce 1 by 50s"},
			"crash poller/0 life 1 after request Produce 2"},
	} {
		t.Run(c.spec+"/"+c.bug, func(t *testing.T) {
			e, err := Named(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Check(nil, c.bug, check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.end == somewhere && r.LiftedEnd != "" {
				c.end = r.LiftedEnd
			}
			if !r.Liftable || !slices.Equal(r.Lifted, c.want) || r.LiftedEnd != c.end {
				t.Errorf("got %q and %q, want %q and %q", r.Lifted, r.LiftedEnd, c.want, c.end)
			}
		})
	}
}

// TestLifting: lives, counts, and what is to happen at an event that has yet to come.
func TestLifting(t *testing.T) {
	l := newLifting()
	l.crash("a/0") // before it has done anything
	l.event("a/0", "call", "put")
	l.later("a/0", "pause", "for 50s")
	l.later("a/1", "stop", "")
	l.event("a/1", "call", "put")
	l.event("a/0", "call", "put")
	l.slow("a/0", "call", "put")
	l.crash("a/0")
	l.lose("a/0", "call", "put")
	l.refuse("a/0", "call", "put", "internal")
	l.later("a/0", "pause", "for 50s") // and nothing comes
	l.later("a/2", "pause", "for 50s") // of somebody who does nothing
	want := []string{
		"crash a/0 life 1 before request Metadata 1",
		"stop a/1 life 1 at call put 1",
		"pause a/0 life 2 at call put 2 for 50s",
		"delay a/0 life 2 call put 3 by 50s",
		"crash a/0 life 2 after call put 2",
		"lose a/0 life 3 call put 1",
		"error a/0 life 3 call put 2 internal",
		"pause a/0 life 3 at call put 2 for 50s",
	}
	if got := l.finish(); !slices.Equal(got.faults, want) ||
		got.end != "crash a/0 life 3 after call put 2" {
		t.Errorf("got %q, end %q\nwant %q", got.faults, got.end, want)
	}
}
