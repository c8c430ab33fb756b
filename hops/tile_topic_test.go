//go:build synctests

package hops

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// Partitions that are added begin where their log does, and their start is kept.
func TestTileNewPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 5)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		log.records, log.first = append(log.records, nil), append(log.first, 0)
		log.fill(t, 9)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
	})
}

// A log that ends below what was read is waited for, not without saying so: after
// a change of leaders it may come back.
func TestTileLogBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(2)
		log.fill(t, 6)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		whole := log.records[0]
		log.records[0] = whole[:3]
		behind := 0
		tile := tileOf(t, store, log, 4)
		tile.cfg.Alert = func(a Alert) {
			if a.What == AlertBehind && strings.Contains(a.Detail, topic+"/0 ends at offset 3") {
				behind++
			}
		}
		if err := runTile(t.Context(), tile); err != nil || behind == 0 {
			t.Fatal(behind, err)
		}
		log.records[0] = whole
		log.fill(t, 3)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		if err := checkTile(store, log, 4); err != nil {
			t.Error(err)
		}
	})
}

// A topic with fewer partitions is another topic.
func TestTilePartitionGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(2)
		log.fill(t, 2)
		if err := runTile(t.Context(), tileOf(t, store, log, 4)); err != nil {
			t.Fatal(err)
		}
		log.records = log.records[:1]
		log.fill(t, 2)
		err := runTile(t.Context(), tileOf(t, store, log, 4))
		var damage *TileDamageError
		if !errors.As(err, &damage) || !strings.Contains(damage.Reason, "no such partition") {
			t.Error(err)
		}
	})
}

// Spark finds files by the base URI; our reader by their place in the store.
func TestTileBaseURI(t *testing.T) {
	for base, want := range map[string]string{
		"":                  `"path":"/` + tilePrefix + `/part-00000-`,
		"s3a://lake":        `"path":"s3a://lake/` + tilePrefix + `/part-00000-`,
		"file:///srv/lake/": `"path":"file:///srv/lake/` + tilePrefix + `/part-00000-`,
	} {
		synctest.Test(t, func(t *testing.T) {
			store, log := newMemoryStore(), newMemoryLog(1)
			log.fill(t, 4)
			tile, err := NewTile(TileConfig{
				Store: store, Topic: topic, Prefix: tilePrefix, BaseURI: base,
			})
			if err != nil {
				t.Fatal(err)
			}
			tile.source = log.source()
			if err := runTile(t.Context(), tile); err != nil {
				t.Fatal(err)
			}
			body := string(store.objects[tilePrefix+"/"+SinkLogDir+"/0"])
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s", body, want)
			}
			if err := checkTile(store, log, 4); err != nil {
				t.Error(err)
			}
		})
	}
}
