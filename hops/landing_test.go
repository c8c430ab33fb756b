//go:build synctests

package hops

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func records(*LandingConfig) {}

func blocks(size int, flush time.Duration) func(*LandingConfig) {
	return func(cfg *LandingConfig) {
		cfg.Naming, cfg.BlockSize, cfg.FlushAfter = Block, size, flush
	}
}

func classic(change func(*LandingConfig)) func(*LandingConfig) {
	return func(cfg *LandingConfig) {
		change(cfg)
		cfg.Classic = true
	}
}

func TestLandingNamings(t *testing.T) {
	for _, test := range []struct {
		name      string
		change    func(*LandingConfig)
		bad       int // offset of a reject among 7 records
		want      []string
		committed int64
	}{
		{"record", records, 2, []string{"0: 0", "1: 1", "3: 3", "4: 4", "5: 5", "6: 6"}, 7},
		{"record, classic", classic(records), 0,
			[]string{"1: 1", "2: 2", "3: 3", "4: 4", "5: 5", "6: 6"}, 7},
		{"block", blocks(3, 0), 2, []string{"0: 0 1 2=not-json", "3: 3 4 5"}, 6},
		{"block, classic", classic(blocks(3, 0)), 3, []string{"0: 0 1 2", "3: 3=not-json 4 5"}, 6},
		{"block of one", blocks(1, 0), 6,
			[]string{"0: 0", "1: 1", "2: 2", "3: 3", "4: 4", "5: 5", "6: 6=not-json"}, 7},
		{"exact multiple", blocks(7, 0), 6, []string{"0: 0 1 2 3 4 5 6=not-json"}, 7},
		{"block not whole", blocks(8, 0), 6, nil, -1},
		{"flush", blocks(4, time.Second), 6, []string{"0: 0 1 2 3", "4: 4 5 6=not-json"}, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, 2, func(t *testing.T, w *world) {
				values := w.good(7)
				values[test.bad] = "not JSON"
				w.append(1, values...)
				if err := w.landAndStop(test.change); err != nil {
					t.Errorf("Run: %v", err)
				}
				if diff := cmp.Diff(test.want, w.store.shape(t, 1)); diff != "" {
					t.Error(diff)
				}
				if got := w.committed(1); got != test.committed {
					t.Errorf("committed %d, want %d", got, test.committed)
				}
				// Partition 0 is empty: no object, no commit.
				if got := w.committed(0); got != -1 {
					t.Errorf("committed %d of an empty partition", got)
				}
				if len(w.alerts) > 0 {
					t.Errorf("alerts: %v", w.alerts)
				}
			})
		})
	}
}

func TestLandingDeadLetter(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, append(w.good(1), "not JSON")...)
		if err := w.landAndStop(records); err != nil {
			t.Fatal(err)
		}
		letters := w.read(dlq, 0)
		if len(letters) != 1 {
			t.Fatalf("%d dead letters, want 1", len(letters))
		}
		letter := letters[0]
		if string(letter.Key) != "ada" || string(letter.Value) != "not JSON" {
			t.Errorf("dead letter is %q: %q", letter.Key, letter.Value)
		}
		var headers []string
		for _, h := range letter.Headers {
			headers = append(headers, h.Key+"="+string(h.Value))
		}
		want := []string{"trace=t1", "origin-topic=" + topic, "origin-partition=0",
			"origin-offset=1", "reason=not-json"}
		if diff := cmp.Diff(want, headers); diff != "" {
			t.Error(diff)
		}
	})
}

// A put that stays failed stops its partition there, and no other.
func TestLandingPutKeepsFailing(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world) {
		var broken atomic.Bool
		broken.Store(true)
		w.store.before = func(_, key string) error {
			if broken.Load() && key == ObjectKey(topic, 0, 2) {
				return errors.New("no space")
			}
			return nil
		}
		w.append(0, w.good(4)...)
		stop := w.land(func(cfg *LandingConfig) { cfg.CoolDown = 10 * time.Second })
		time.Sleep(time.Minute)
		w.append(1, w.good(3)...)
		w.append(0, w.good(1)...)
		time.Sleep(time.Minute)
		if got := []int64{w.committed(0), w.committed(1)}; got[0] != 2 || got[1] != 3 {
			t.Errorf("committed %v, want [2 3]", got)
		}
		if diff := cmp.Diff([]string{"0: 0", "1: 1"}, w.store.shape(t, 0)); diff != "" {
			t.Error(diff)
		}
		if w.alerted(AlertPutFailed) < 2 {
			t.Errorf("alerts: %v", w.alerts)
		}
		broken.Store(false)
		time.Sleep(20 * time.Second)
		if got := w.committed(0); got != 5 {
			t.Errorf("committed %d after the store healed, want 5", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A put whose reply is lost is put again, with the same bytes.
func TestLandingLostReplies(t *testing.T) {
	for _, change := range []func(*LandingConfig){records, blocks(3, time.Second)} {
		inWorld(t, 1, func(t *testing.T, w *world) {
			lost := make(map[string]bool)
			w.store.after = func(op, key string) error {
				if strings.HasPrefix(op, "put") && !lost[key] {
					lost[key] = true
					return errors.New("reply lost")
				}
				return nil
			}
			w.append(0, w.good(4)...)
			if err := w.landAndStop(change); err != nil {
				t.Error(err)
			}
			if got := w.committed(0); got != 4 {
				t.Errorf("committed %d, want 4", got)
			}
			var offsets []int64
			for _, body := range w.store.objects {
				lines, err := ParseBody(body)
				if err != nil {
					t.Error(err)
				}
				for _, line := range lines {
					offsets = append(offsets, line.Offset)
				}
			}
			if len(offsets) != 4 {
				t.Errorf("offsets in objects: %v", offsets)
			}
			if len(w.alerts) > 0 {
				t.Errorf("alerts: %v", w.alerts)
			}
		})
	}
}

// A flushed prefix is extended after a restart, under the same key.
func TestLandingFlushThenRestart(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.append(0, w.good(2)...)
		if err := w.landAndStop(blocks(5, time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := w.committed(0); got != 2 {
			t.Errorf("committed %d, want 2", got)
		}
		w.append(0, "not JSON")
		if err := w.landAndStop(blocks(5, time.Second)); err != nil {
			t.Fatal(err)
		}
		w.append(0, w.good(3)...)
		if err := w.landAndStop(blocks(5, 0)); err != nil {
			t.Fatal(err)
		}
		want := []string{"0: 0 1 2=not-json 3 4"}
		if diff := cmp.Diff(want, w.store.shape(t, 0)); diff != "" {
			t.Error(diff)
		}
		if got := w.committed(0); got != 5 {
			t.Errorf("committed %d, want 5", got)
		}
		if n := len(w.read(dlq, 0)); n != 1 {
			t.Errorf("%d dead letters, want 1", n)
		}
	})
}

// A commit that no stored prefix covers is damage: nothing is overwritten.
func TestLandingDamage(t *testing.T) {
	for name, spoil := range map[string]func(*memoryStore, string){
		"missing": func(s *memoryStore, key string) { delete(s.objects, key) },
		"shorter": func(s *memoryStore, key string) {
			lines, _ := ParseBody(s.objects[key])
			s.set(key, AppendBody(nil, lines[:2]...))
		},
		"torn": func(s *memoryStore, key string) {
			s.set(key, s.objects[key][:len(s.objects[key])-3])
		},
		"other content": func(s *memoryStore, key string) {
			lines, _ := ParseBody(s.objects[key])
			more := Line{Offset: 3, Timestamp: 1, Key: []byte("bob"), Value: []byte("{}")}
			s.set(key, AppendBody(nil, append(lines, more)...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 2, func(t *testing.T, w *world) {
				w.append(0, w.good(3)...)
				if err := w.landAndStop(blocks(5, time.Second)); err != nil {
					t.Fatal(err)
				}
				spoil(w.store, ObjectKey(topic, 0, 0))
				before := fmt.Sprint(w.store.objects)
				w.append(0, w.good(3)...)
				err := w.landAndStop(blocks(5, time.Second))
				var damage *DamageError
				if !errors.As(err, &damage) || damage.Partition != 0 {
					t.Errorf("Run returned %v, want a DamageError of partition 0", err)
				}
				if got := w.committed(0); got != 3 {
					t.Errorf("committed %d, want 3", got)
				}
				if fmt.Sprint(w.store.objects) != before {
					t.Error("the store was changed")
				}
				if w.alerted(AlertDamage) != 1 {
					t.Errorf("alerts: %v", w.alerts)
				}
			})
		})
	}
}

// Offsets that retention removed are holes, and said so when they were not
// landed before.
func TestLandingHoles(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*LandingConfig)
		landed  int // records landed before the log is cut
		cut     int64
		want    []string
		trimmed int
	}{
		{"head, no commit", blocks(4, 0), 0, 2,
			[]string{"0: 0=hole 1=hole 2 3", "4: 4 5 6 7"}, 0},
		{"head, a whole block", blocks(2, 0), 0, 5, []string{"4: 4=hole 5", "6: 6 7"}, 0},
		{"after a flush", blocks(4, time.Second), 2, 3,
			[]string{"0: 0 1 2=hole 3", "4: 4 5 6 7"}, 1},
		{"past a flushed block", blocks(4, time.Second), 2, 6,
			[]string{"0: 0 1 2=hole 3=hole", "4: 4=hole 5=hole 6 7"}, 1},
		{"record", records, 2, 6, []string{"0: 0", "1: 1", "6: 6", "7: 7"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, 1, func(t *testing.T, w *world) {
				if test.landed > 0 {
					w.append(0, w.good(test.landed)...)
					if err := w.landAndStop(test.change); err != nil {
						t.Fatal(err)
					}
				}
				w.append(0, w.good(8-test.landed)...)
				if err := w.cluster.DeleteRecords(topic, 0, test.cut); err != nil {
					t.Fatal(err)
				}
				if err := w.landAndStop(test.change); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, w.store.shape(t, 0)); diff != "" {
					t.Error(diff)
				}
				if got := w.committed(0); got != 8 {
					t.Errorf("committed %d, want 8", got)
				}
				if got := w.alerted(AlertTrimmed); got != test.trimmed {
					t.Errorf("%d alerts about trimmed offsets, want %d", got, test.trimmed)
				}
			})
		})
	}
}
