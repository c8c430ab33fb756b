package worlds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/bus"
	simulated "github.com/hopcheck/hopcheck/sim/worlds"
)

// TestAsSimulated wants of every world what the simulated one of its name has, so that
// a schedule and a verdict mean the same.
func TestAsSimulated(t *testing.T) {
	for _, name := range worlds.List() {
		t.Run(name, func(t *testing.T) {
			w, err := worlds.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			e, err := simulated.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			want := e.World
			if w.Spec == "" {
				want = simulated.WithoutConformance(want) // not compared here yet
			} else if w.Spec != e.Spec || w.At != e.At {
				t.Errorf("specification %s %+v, want %s %+v", w.Spec, w.At, e.Spec, e.At)
			}
			if !slices.Equal(w.Procs(), want.Procs()) {
				t.Errorf("processes %v, want %v", w.Procs(), want.Procs())
			}
			if !slices.Equal(w.Groups, want.Groups) {
				t.Errorf("groups %v, want %v", w.Groups, want.Groups)
			}
			ours, theirs := w.AllPromises(), want.AllPromises()
			if len(ours) != len(theirs) {
				t.Fatalf("%d promises, want %d", len(ours), len(theirs))
			}
			for i := range ours {
				if ours[i].Name != theirs[i].Name {
					t.Errorf("promise %s, want %s", ours[i].Name, theirs[i].Name)
				}
				// The example shows with which topics and groups it was made.
				if !withTimes(ours[i].Name) && ours[i].Holds != theirs[i].Holds {
					t.Errorf("%s is made differently: %q,\nwant %q",
						ours[i].Name, ours[i].Holds, theirs[i].Holds)
				}
			}
			var topics, simTopics []worlds.Topic
			topics = append(topics, w.Topics...)
			for _, o := range want.Topics {
				simTopics = append(simTopics, worlds.Topic{Name: o.Name, Partitions: o.Partitions})
			}
			if !slices.Equal(topics, simTopics) {
				t.Errorf("topics %v, want %v", topics, simTopics)
			}
		})
	}
}

// withTimes reports whether a promise has a bound in time, of which real servers need
// more.
func withTimes(name string) bool {
	return strings.HasPrefix(name, "lso-progress/") || !strings.Contains(name, ".") &&
		strings.HasPrefix(name, "drains/")
}

// TestPoints wants places that the world's processes have.
func TestPoints(t *testing.T) {
	for _, name := range worlds.List() {
		w, _ := worlds.Named(name)
		for _, p := range w.Points {
			if !slices.Contains(w.Procs(), p.Proc) {
				t.Errorf("world %s: faults at %s, which it does not have", name, p.Proc)
			}
		}
	}
}

// TestNames has a prefix go on and come off again.
func TestNames(t *testing.T) {
	n := worlds.Names{ID: "abc123"}
	if got := n.Of(bus.Progress); got != "hopcheck-abc123.learning.progress" {
		t.Errorf("a topic is %q", got)
	}
	parts := []model.Part{model.PartOf(n.Of(bus.Progress), 1)}
	e := model.Event{
		Group: n.Of(bus.ValidatedGroup), TxnID: "progress-validated-" + n.Of("g") + "/validated-0",
		Key: n.Of(bus.Progress) + "/0/5", Parts: parts,
	}
	n.PlainEvent(&e)
	if e.Group != bus.ValidatedGroup || e.TxnID != "progress-validated-g/validated-0" ||
		e.Key != bus.Progress+"/0/5" || e.Parts[0].Topic != bus.Progress {
		t.Errorf("without the prefix: %+v", e)
	}
	if parts[0].Topic == bus.Progress {
		t.Error("the caller's parts were changed")
	}
	for _, id := range []string{"", "abc", "../../etc", "abc.def", "ABCDEF", "abc 123", "-abc123"} {
		if worlds.CheckID(id) == nil {
			t.Errorf("%q is taken for an id of a run", id)
		}
	}
}
