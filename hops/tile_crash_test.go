//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTileWritesWhatSparkReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(2)
		log.fill(t, 24)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
		names, _ := shapeOf(store)
		if diff := cmp.Diff([]string{"10", "11", "9.compact"}, names); diff != "" {
			t.Error(diff)
		}
		// Nothing new, nothing done; a new process goes on where the first was.
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		log.fill(t, 18)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
		names, _ = shapeOf(store)
		if diff := cmp.Diff([]string{"19.compact", "20"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// crashed runs processes until one is done: each strike breaks one of them.
func crashed(t *testing.T, perPartition, most int, strikes ...strike) (calls int, err error) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(2)
		log.fill(t, perPartition)
		for _, s := range strikes {
			ctx, kill := context.WithCancel(t.Context())
			s.arm(store, kill)
			runErr := runTile(ctx, tileOf(t, store, log, most))
			kill()
			if runErr != nil {
				err = fmt.Errorf("the process with %v: %w", s, runErr)
				return
			}
		}
		store.before, store.after = nil, nil
		if err = runTile(t.Context(), tileOf(t, store, log, most)); err == nil {
			calls = len(store.calls)
			err = checkTile(store, log, most)
		}
	})
	return calls, err
}

// Whatever call fails, is lost or is the last: the next process makes it exact.
func TestTileRecoversFromEveryCall(t *testing.T) {
	calls, err := crashed(t, 22, 4) // 11 batches, with a compaction
	if err != nil {
		t.Fatal(err)
	}
	if calls < 60 {
		t.Fatalf("only %d calls", calls)
	}
	for _, what := range strikes {
		for at := range calls {
			if _, err := crashed(t, 22, 4, strike{at, what}); err != nil {
				t.Errorf("%s at call %d of %d: %v", what, at, calls, err)
			}
		}
	}
}

func TestTileRecoversFromSeveralCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []strike
		for range rapid.IntRange(1, 6).Draw(rt, "processes") {
			all = append(all, strike{
				rapid.IntRange(0, 60).Draw(rt, "call"),
				rapid.SampledFrom(strikes).Draw(rt, "fault"),
			})
		}
		most := rapid.IntRange(1, 9).Draw(rt, "offsets per batch")
		records := rapid.IntRange(0, 45).Draw(rt, "records per partition")
		if _, err := crashed(t, records, most, all...); err != nil {
			rt.Fatal(err)
		}
	})
}

// Two runs on one checkpoint, however they overlap: each batch has one winner,
// the other run stops and says so, and the sums are exact.
func TestTileTwoRuns(t *testing.T) {
	conflicts := 0
	rapid.Check(t, func(rt *rapid.T) {
		slow := rapid.SliceOfN(rapid.IntRange(0, 150), 0, 8).Draw(rt, "slow calls")
		wait := time.Duration(rapid.IntRange(1, 40).Draw(rt, "for seconds")) * time.Second
		later := time.Duration(rapid.IntRange(0, 300).Draw(rt, "later")) * 100 * time.Millisecond
		most := rapid.IntRange(2, 20).Draw(rt, "offsets per batch")
		var met int
		var verdict error
		synctest.Test(t, func(t *testing.T) {
			store, log := newMemoryStore(), newMemoryLog(2)
			var calls atomic.Int64
			store.before = func(string, string) error {
				time.Sleep(10 * time.Millisecond)
				if slices.Contains(slow, int(calls.Add(1))) {
					time.Sleep(wait)
				}
				return nil
			}
			go func() { // so that two plans of one batch differ
				for range 15 {
					log.fill(t, 2)
					time.Sleep(1700 * time.Millisecond)
				}
			}()
			met, verdict = rivals{store, log, later, most}.run(t)
		})
		conflicts += met
		if verdict != nil {
			rt.Fatal(verdict)
		}
	})
	if conflicts == 0 {
		t.Error("no two runs ever met")
	}
}

// rivals are two tiles of one checkpoint, the second of which begins later.
type rivals struct {
	store *memoryStore
	log   *memoryLog
	later time.Duration
	most  int
}

// run runs both until they have stopped, then a third to end what they began. It
// counts the runs that met the other.
func (r rivals) run(t *testing.T) (met int, verdict error) {
	ended := make(chan error, 2)
	for i := range 2 {
		tile := tileOf(t, r.store, r.log, r.most)
		tile.cfg.Trigger = 2 * time.Second
		go func() {
			time.Sleep(time.Duration(i) * r.later)
			ended <- runTile(t.Context(), tile)
		}()
	}
	for range 2 {
		err := <-ended
		var conflict *TileConflictError
		if errors.As(err, &conflict) {
			met++
		} else if err != nil {
			return met, err
		}
	}
	r.store.before = nil
	if err := runTile(t.Context(), tileOf(t, r.store, r.log, r.most)); err != nil {
		return met, err
	}
	return met, checkTile(r.store, r.log, r.most)
}
