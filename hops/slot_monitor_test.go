//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slotFilm is what a slot is seen to be, look after look; the last one stays.
type slotFilm struct {
	looks []slotLook
	nth   int
}

type slotLook struct {
	state         string
	retained, lag int64
	err           error
}

func (f *slotFilm) Slot(context.Context) (state string, retained, lag int64, err error) {
	look := f.looks[min(f.nth, len(f.looks)-1)]
	f.nth++
	return look.state, look.retained, look.lag, look.err
}

// An alert at each change of state, at once, and reminders while it stays.
func TestSlotMonitor(t *testing.T) {
	fine, failed := slotLook{"reserved", 10, 5, nil}, slotLook{err: errors.New("no answer")}
	full := slotLook{"reserved", 100, 100, nil}
	for name, test := range map[string]struct {
		looks []slotLook
		want  []string // second and alert
	}{
		"fine": {[]slotLook{fine}, nil},
		"limit": {
			[]slotLook{fine, full, full, fine},
			[]string{"30 slot-limit", "90 slot-fine"},
		},
		"one below the limit": {[]slotLook{{"reserved", 99, 99, nil}}, nil},
		"read, and yet held back": {
			[]slotLook{{"reserved", 100, 0, nil}}, []string{"0 slot-limit", "600 slot-limit"},
		},
		"goes bad": {
			[]slotLook{full, {"extended", 200, 200, nil}, {"unreserved", 300, 300, nil},
				{"lost", 0, 0, nil}, {"missing", 0, 0, nil}, fine},
			[]string{"0 slot-limit", "60 slot-unreserved", "90 slot-lost", "120 slot-missing",
				"150 slot-fine"},
		},
		"stays lost": {
			[]slotLook{{"lost", 0, 0, nil}}, []string{"0 slot-lost", "600 slot-lost"},
		},
		"two looks without an answer": {[]slotLook{failed, failed, fine}, nil},
		"three looks without an answer": {
			[]slotLook{failed}, []string{"60 slot-unknown", "660 slot-unknown"},
		},
		"no answer, then worse": {
			[]slotLook{full, failed, failed, failed, full, fine},
			[]string{"0 slot-limit", "90 slot-unknown", "120 slot-limit", "150 slot-fine"},
		},
		"a word nobody knows": {[]slotLook{{"odd", 0, 0, nil}, fine},
			[]string{"0 slot-unknown", "30 slot-fine"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var got []string
				monitor, err := NewSlotMonitor(SlotMonitorConfig{
					Watch: &slotFilm{looks: test.looks}, Limit: 100, Remind: 10 * time.Minute,
					Alert: func(a Alert) {
						at := time.Since(begin).Seconds()
						got = append(got, fmt.Sprintf("%.0f %s", at, a.What))
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Second)
				defer cancel()
				if err := monitor.Run(ctx); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A look that is not answered at all counts as one that failed.
func TestSlotMonitorSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alerts := 0
		monitor, err := NewSlotMonitor(SlotMonitorConfig{
			Watch: silentSlot{}, Limit: 1, Alert: func(a Alert) { alerts++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if err := monitor.Run(ctx); err != nil || alerts != 1 {
			t.Errorf("%v, %d alerts in 3 minutes", err, alerts)
		}
	})
}

type silentSlot struct{}

func (silentSlot) Slot(ctx context.Context) (string, int64, int64, error) {
	<-ctx.Done()
	return "", 0, 0, ctx.Err()
}

func TestNewSlotMonitorRefuses(t *testing.T) {
	right := SlotMonitorConfig{Watch: silentSlot{}, Limit: 1, Alert: func(Alert) {}}
	if _, err := NewSlotMonitor(right); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*SlotMonitorConfig){
		"Watch": func(cfg *SlotMonitorConfig) { cfg.Watch = nil },
		"Limit": func(cfg *SlotMonitorConfig) { cfg.Limit = 0 },
		"Alert": func(cfg *SlotMonitorConfig) { cfg.Alert = nil },
		"Every": func(cfg *SlotMonitorConfig) { cfg.Every = -1 },
	} {
		cfg := right
		spoil(&cfg)
		if _, err := NewSlotMonitor(cfg); err == nil {
			t.Errorf("without a right %s there is a monitor", name)
		}
	}
}
