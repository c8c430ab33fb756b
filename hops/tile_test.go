//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNewTileRefuses(t *testing.T) {
	for name, change := range map[string]func(*TileConfig){
		"no store":      func(cfg *TileConfig) { cfg.Store = nil },
		"no topic":      func(cfg *TileConfig) { cfg.Topic = "" },
		"no prefix":     func(cfg *TileConfig) { cfg.Prefix = "" },
		"slash":         func(cfg *TileConfig) { cfg.Prefix = "tile/" },
		"space":         func(cfg *TileConfig) { cfg.Prefix = "my tile" },
		"window":        func(cfg *TileConfig) { cfg.Window = time.Microsecond },
		"negative":      func(cfg *TileConfig) { cfg.Trigger = -1 },
		"negative size": func(cfg *TileConfig) { cfg.MaxOffsetsPerBatch = -1 },
	} {
		cfg := TileConfig{Store: newMemoryStore(), Topic: topic, Prefix: tilePrefix}
		change(&cfg)
		if _, err := NewTile(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A tile whose logs contradict each other, or are torn, does not start, changes
// nothing, and says which object is at fault.
func TestTileRefusesDamage(t *testing.T) {
	at := func(name string) string { return tilePrefix + "/" + name }
	for _, test := range []struct {
		name  string
		spoil func(*memoryStore)
		key   string
	}{
		{"A8: checkpoint lost", func(s *memoryStore) {
			for key := range s.objects {
				if strings.Contains(key, "/checkpoint/") {
					delete(s.objects, key)
				}
			}
		}, "_spark_metadata/"},
		{"metadata lost", func(s *memoryStore) {
			delete(s.objects, at("checkpoint/metadata"))
		}, "checkpoint/metadata"},
		{"metadata torn", func(s *memoryStore) {
			s.set(at("checkpoint/metadata"), []byte(`{"id":`))
		}, "checkpoint/metadata"},
		{"offsets torn", func(s *memoryStore) {
			key := at("checkpoint/offsets/4")
			s.set(key, s.objects[key][:60])
		}, "checkpoint/offsets/4"},
		{"offsets empty", func(s *memoryStore) {
			s.set(at("checkpoint/offsets/4"), nil)
		}, "checkpoint/offsets/4"},
		{"offsets of another topic", func(s *memoryStore) {
			key := at("checkpoint/offsets/4")
			s.set(key, []byte(strings.ReplaceAll(string(s.objects[key]), topic, "other")))
		}, "checkpoint/offsets/4"},
		{"offsets do not touch", func(s *memoryStore) {
			s.objects[at("checkpoint/offsets/4")] = s.objects[at("checkpoint/offsets/2")]
		}, "checkpoint/offsets/4"},
		{"commit torn", func(s *memoryStore) {
			s.set(at("checkpoint/commits/4"), []byte("v1"))
		}, "checkpoint/commits/4"},
		{"sink log torn", func(s *memoryStore) {
			key := at("_spark_metadata/4")
			s.set(key, s.objects[key][:30])
		}, "_spark_metadata/4"},
		{"sink log behind", func(s *memoryStore) {
			delete(s.objects, at("_spark_metadata/4"))
		}, "_spark_metadata/"},
		{"sink log gap", func(s *memoryStore) {
			delete(s.objects, at("_spark_metadata/2"))
		}, "_spark_metadata/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, log := newMemoryStore(), newMemoryLog(1)
				log.fill(t, 10)
				if err := runTile(t.Context(), tileOf(t, store, log, 2)); err != nil {
					t.Fatal(err)
				}
				test.spoil(store)
				log.fill(t, 1)
				before := fmt.Sprint(store.objects)
				err := runTile(t.Context(), tileOf(t, store, log, 2))
				var damage *TileDamageError
				if !errors.As(err, &damage) || damage.Key != at(test.key) || damage.Remedy == "" {
					t.Errorf("%v, want damage of %s", err, at(test.key))
				}
				if fmt.Sprint(store.objects) != before {
					t.Error("the store was changed")
				}
			})
		})
	}
}

// A part that is named and not there is an error of the reader, not fewer rows.
func TestReadTileRefusesDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 4)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		for key, body := range store.objects {
			if !strings.Contains(key, "/part-") {
				continue
			}
			for _, spoilt := range [][]byte{nil, body[:len(body)-1], make([]byte, len(body))} {
				store.objects[key] = spoilt
				if spoilt == nil {
					delete(store.objects, key)
				}
				_, err := ReadTile(t.Context(), store, tilePrefix)
				var damage *TileDamageError
				if !errors.As(err, &damage) || damage.Key != key {
					t.Errorf("%v, want damage of %s", err, key)
				}
			}
			store.objects[key] = body
		}
		if rows, err := ReadTile(t.Context(), store, "tiles/none"); len(rows) > 0 || err != nil {
			t.Error(rows, err)
		}
	})
}

// A9: killed between the parts and the sink log, the parts are garbage: who lists
// the folder sees them, who goes by the sink log does not.
func TestTileOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 4)
		ctx, kill := context.WithCancel(t.Context())
		store.before = func(op, key string) error {
			if strings.Contains(key, "_spark_metadata/0") {
				kill()
				return errFault
			}
			return nil
		}
		if err := runTile(ctx, tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		_, orphans := shapeOf(store)
		store.before = nil
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
		if _, parts := shapeOf(store); orphans == 0 || parts != 2*orphans {
			t.Errorf("%d parts, %d of them orphans", parts, orphans)
		}
	})
}

// A reader that meets a compaction looks again.
func TestReadTileDuringCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 9)
		if err := runTile(t.Context(), tileOf(t, store, log, 1)); err != nil {
			t.Fatal(err)
		}
		looked := false
		store.before = func(op, key string) error {
			if op == "get" && strings.HasSuffix(key, "_spark_metadata/3") && !looked {
				looked = true
				log.fill(t, 1)
				return runTile(t.Context(), tileOf(t, store, log, 1))
			}
			return nil
		}
		rows, err := ReadTile(t.Context(), store, tilePrefix)
		if err != nil || !looked {
			t.Fatal(looked, err)
		}
		if names, _ := shapeOf(store); len(names) != 1 || len(sums(rows)) == 0 {
			t.Error(names, rows)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
	})
}
