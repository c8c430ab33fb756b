//go:build synctests

package worlds

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

var historiesFlag = flag.Int("worlds.histories", 30,
	"how many histories of each world are compared with its specification")

// chance draws schedules without rapid.
type chance struct{ *rand.Rand }

func (c chance) Intn(_ string, n int) int { return c.IntN(n) }

// histories runs random schedules of a world.
func histories(t *testing.T, e Entry, n int, each func(schedule.Schedule, *model.History)) {
	t.Helper()
	w := WithoutConformance(e.World)
	run := func(s schedule.Schedule) *model.History {
		r, err := sim.Run(t, w, s)
		if err != nil {
			t.Fatal(err)
		}
		return r.History
	}
	alphabet := w.Alphabet(run(schedule.Schedule{World: e.Name, Seed: 1}))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		s := schedule.Schedule{World: e.Name, Seed: uint64(i)}
		o := schedule.Options{Verbs: w.Verbs, MaxFaults: max(w.MaxFaults, 4)}
		s.Faults = schedule.Draw(chance{rng}, alphabet, o)
		each(s, run(s))
	}
}

// TestConform compares what right hops do with their specifications.
func TestConform(t *testing.T) {
	for _, e := range All() {
		if e.Spec == "" {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			events, width, undecided := 0, 0, 0
			histories(t, e, *historiesFlag, func(s schedule.Schedule, h *model.History) {
				c := e.Conform(h)
				events += len(c.Compared)
				width = max(width, c.Width)
				for _, m := range c.Misfits {
					t.Errorf("%s\n%s", s, m)
				}
				for _, u := range c.Undecided {
					t.Logf("%s\nnot compared: %s", s, u)
				}
				undecided += min(len(c.Undecided), 1)
			})
			t.Logf("%d histories, %d steps compared, at most %d states possible at once; "+
				"parts of %d not compared", *historiesFlag, events, width, undecided)
			if undecided*50 > *historiesFlag {
				t.Errorf("parts of %d in %d histories were not compared", undecided, *historiesFlag)
			}
		})
	}
}

// mutations are changes of one event of a history, with the least part of them that must
// be refused.
var mutations = []struct {
	name   string
	change func(events []model.Event, seqs []int64, i int) []int64 // in the order wanted
	least  float64
}{
	{"removed", without, 0.75},
	{"doubled", doubled, 0.3},
	{"done twice", repeated, 0.75},
	{"reordered", swapped, 0.5},
}

// TestMutatedHistories: a history with one event of those that a specification looks at
// removed, doubled, done twice (with its answer) or put before the one before it, is
// refused. What is not refused is a behaviour all the same: without its answer a commit
// is one whose answer was lost; a request that stands there twice is one that was lost
// and made again; a member may poll a little earlier, or fetch the group's offset
// again; what an application asks for and is told comes in any order.
func TestMutatedHistories(t *testing.T) {
	for _, e := range All() {
		if e.Spec == "" {
			continue
		}
		schedules := 4
		if e.Heavy {
			schedules = 1
		}
		t.Run(e.Name, func(t *testing.T) {
			tried := make([]map[string][2]int, len(mutations))
			for m := range mutations {
				tried[m] = make(map[string][2]int)
			}
			histories(t, e, schedules, func(_ schedule.Schedule, h *model.History) {
				seqs := e.Conform(h).Compared
				slices.Sort(seqs)
				seqs = slices.Compact(seqs)
				for m, mutation := range mutations {
					for i := range seqs {
						order := mutation.change(h.Events(), seqs, i)
						if order == nil {
							continue
						}
						kind := kindOf(&h.Events()[seqs[i]-1])
						n := tried[m][kind]
						n[1]++
						if len(e.Conform(reordered(h, order)).Misfits) > 0 {
							n[0]++
						}
						tried[m][kind] = n
					}
				}
			})
			for m, mutation := range mutations {
				refused, all := 0, 0
				var kinds []string
				for kind, n := range tried[m] {
					refused, all = refused+n[0], all+n[1]
					if n[0] < n[1] {
						kinds = append(kinds, fmt.Sprintf("%s %d/%d", kind, n[0], n[1]))
					}
				}
				slices.Sort(kinds)
				t.Logf("%s: %d of %d refused; not all of %s", mutation.name, refused, all,
					strings.Join(kinds, ", "))
				if part := float64(refused) / float64(all); part < mutation.least {
					t.Errorf("%s: %.2f were refused, want %.2f",
						mutation.name, part, mutation.least)
				}
			}
		})
	}
}

func kindOf(e *model.Event) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, e.Op, e.Outcome))
}

// sequence returns the numbers 1 to n.
func sequence(n int) []int64 {
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i) + 1
	}
	return order
}

func without(events []model.Event, seqs []int64, i int) []int64 {
	return slices.Delete(sequence(len(events)), int(seqs[i])-1, int(seqs[i]))
}

func doubled(events []model.Event, seqs []int64, i int) []int64 {
	return slices.Insert(sequence(len(events)), int(seqs[i]), seqs[i])
}

// repeated does once more what was asked for and answered, a moment after it was.
func repeated(events []model.Event, seqs []int64, i int) []int64 {
	for j := i + 1; j < len(seqs); j++ {
		answer := &events[seqs[j]-1]
		if answer.Of != seqs[i] {
			continue
		}
		at := int(seqs[j])
		for at < len(events) && events[at].At == answer.At {
			at++
		}
		return slices.Insert(sequence(len(events)), at, seqs[i], seqs[j])
	}
	return nil
}

// swapped puts an event before the last one before it that is of the same process, nil
// where there is none or it is of another kind of thing.
func swapped(events []model.Event, seqs []int64, i int) []int64 {
	for j := i - 1; j >= 0; j-- {
		if events[seqs[j]-1].Proc == events[seqs[i]-1].Proc && events[seqs[i]-1].Proc != "" {
			order := sequence(len(events))
			order = slices.Delete(order, int(seqs[i])-1, int(seqs[i]))
			return slices.Insert(order, int(seqs[j])-1, seqs[i])
		}
	}
	return nil
}

// reordered returns a history with the events of h in another order. An answer names
// what it answers, where that is still before it.
func reordered(h *model.History, order []int64) *model.History {
	var out model.History
	at := make(map[int64]int64)
	for i, seq := range order {
		e := h.Events()[seq-1]
		e.Of = at[e.Of]
		out.Append(e)
		at[seq] = int64(i) + 1
	}
	return &out
}
