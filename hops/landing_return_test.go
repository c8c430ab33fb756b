//go:build synctests

package hops

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A partition that goes away with work in hand and comes back is begun anew,
// and fetched again although it was paused.
func TestLandingPartitionReturns(t *testing.T) {
	for name, change := range map[string]func(*LandingConfig){
		"record": records, "record, classic": classic(records),
		"block": blocks(5, time.Second), "block, classic": classic(blocks(5, time.Second)),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 2, func(t *testing.T, w *world) {
				var broken atomic.Bool
				broken.Store(true)
				w.store.before = func(string, string) error {
					if broken.Load() {
						return errors.New("no space")
					}
					return nil
				}
				for partition := range int32(2) {
					w.append(partition, w.good(3)...)
				}
				w.land(change)
				time.Sleep(20 * time.Second)
				guest := w.land(change)
				time.Sleep(20 * time.Second)
				if err := guest(); err != nil {
					t.Error(err)
				}
				time.Sleep(20 * time.Second)
				broken.Store(false)
				for partition := range int32(2) {
					w.append(partition, w.good(2)...)
				}
				time.Sleep(2 * time.Minute)
				for partition := range int32(2) {
					if got := w.committed(partition); got != 5 {
						t.Errorf("partition %d: committed %d, want 5", partition, got)
					}
				}
				if w.alerted(AlertDamage) > 0 {
					t.Error(w.alerts)
				}
			})
		})
	}
}
