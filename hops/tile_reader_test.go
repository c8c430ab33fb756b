//go:build synctests

package hops

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// rowsOf collects what a loop over a tile gives: the rows, then the error.
func rowsOf(t *testing.T, store TileStore) (rows []TileRow, err error) {
	t.Helper()
	for row, wrong := range TileRows(t.Context(), store, tilePrefix) {
		if err != nil {
			t.Error("something after the error")
		}
		if err = wrong; err == nil {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// partsRead counts the parts that were got from the store since the last call.
func partsRead(store *memoryStore) (parts int) {
	for _, call := range store.calls {
		if strings.HasPrefix(call, "get "+tilePrefix+"/part-") {
			parts++
		}
	}
	store.calls = nil
	return parts
}

func TestTileRowsReadsPartByPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 12)
		if err := runTile(t.Context(), tileOf(t, store, log, 2)); err != nil {
			t.Fatal(err)
		}
		partsRead(store)
		all, err := rowsOf(t, store)
		if parts := partsRead(store); err != nil || parts != 6 || len(all) == 0 {
			t.Fatal(parts, all, err)
		}
		if again, err := ReadTile(t.Context(), store, tilePrefix); !slices.Equal(again, all) {
			t.Error(again, err)
		}
		partsRead(store)

		for row, err := range TileRows(t.Context(), store, tilePrefix) {
			if row != all[0] || err != nil {
				t.Error(row, err)
			}
			break
		}
		if parts := partsRead(store); parts != 1 {
			t.Errorf("%d parts read for one row", parts)
		}

		// A batch that comes while a loop is under way belongs to the next one.
		seen := 0
		for _, err := range TileRows(t.Context(), store, tilePrefix) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == 1 {
				log.fill(t, 2)
				if err := runTile(t.Context(), tileOf(t, store, log, 2)); err != nil {
					t.Fatal(err)
				}
			}
		}
		later, err := rowsOf(t, store)
		if seen != len(all) || len(later) <= seen || err != nil {
			t.Errorf("%d rows, and %d after the batch: %v", seen, len(later), err)
		}
	})
}

func TestTileRowsEndsAtDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newMemoryStore(), newMemoryLog(1)
		log.fill(t, 6)
		if err := runTile(t.Context(), tileOf(t, store, log, 2)); err != nil {
			t.Fatal(err)
		}
		all, err := rowsOf(t, store)
		if err != nil {
			t.Fatal(err)
		}
		files, _, err := readSinkLog(t.Context(), store, tilePrefix)
		if err != nil || len(files) != 3 {
			t.Fatal(files, err)
		}
		third := strings.TrimPrefix(files[2].Path, "/")
		body := store.objects[third]
		store.objects[third] = body[:len(body)/2]
		rows, err := rowsOf(t, store)
		var damage *TileDamageError
		if !errors.As(err, &damage) || damage.Key != third {
			t.Errorf("%v, want damage of %s", err, third)
		}
		if len(rows) == 0 || len(rows) >= len(all) || !slices.Equal(rows, all[:len(rows)]) {
			t.Errorf("%v before the damage, of %v", rows, all)
		}
		if rows, err := ReadTile(t.Context(), store, tilePrefix); rows != nil || err == nil {
			t.Errorf("a part of the tile: %v, %v", rows, err)
		}
	})
}
