package check

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTableGrows adds keys from two goroutines, each key by both: it is new for
// one of them, however often the table grew in between.
func TestTableGrows(t *testing.T) {
	const keys, batch = 400_000, 1000
	mem := &memory{bound: 1 << 30}
	table, ok := newTable(^uint64(0), mem)
	if !ok {
		t.Fatal("no table")
	}
	var added atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, 1))
			for range keys / batch {
				table.enter(batch)
				found := 0
				for range batch {
					if table.add(r.Uint64() | 1) {
						found++
					}
				}
				table.leave(batch - found)
				added.Add(int64(found))
			}
		})
	}
	all.Wait()
	if added.Load() != keys || table.used.Load() != keys {
		t.Errorf("%d added, %d used, want %d", added.Load(), table.used.Load(), keys)
	}
	if got := len(table.pages); got < 17 || got > 26 {
		t.Errorf("%d pages for %d keys", got, keys)
	}
	if held := mem.held.Load(); held != int64(len(table.pages)*pageBytes) {
		t.Errorf("%d bytes counted for %d pages", held, len(table.pages))
	}
}

// TestTableWraps adds keys whose place is at the end, so that they run over to
// the front, and grows.
func TestTableWraps(t *testing.T) {
	table, _ := newTable(^uint64(0), &memory{bound: 1 << 30})
	const keys = 20_000
	for i := range uint64(keys) {
		if !table.enter(1) || !table.add(^uint64(0)-i) {
			t.Fatalf("key %d is not new", i)
		}
		table.leave(0)
	}
	if *table.slot(0) == 0 {
		t.Fatal("nothing has run over to the front")
	}
	for range 3 {
		before, many := len(table.pages), int(table.limit)
		table.enter(many)
		table.leave(many)
		if len(table.pages) <= before {
			t.Fatalf("%d pages after %d", len(table.pages), before)
		}
		for i := range uint64(keys) {
			if table.add(^uint64(0) - i) {
				t.Fatalf("key %d is lost with %d pages", i, len(table.pages))
			}
		}
	}
}

func TestTableWithoutMemory(t *testing.T) {
	if _, ok := newTable(^uint64(0), &memory{bound: pageBytes - 1}); ok {
		t.Error("a table in less than a page")
	}
	table, _ := newTable(^uint64(0), &memory{bound: 3*pageBytes + 1})
	n := 0
	for table.enter(100) {
		table.leave(0)
		n += 100
	}
	if want := 3 * pageSlots / 4 * 3; n > want || n < want-100 {
		t.Errorf("%d keys fit into three pages, want %d", n, want)
	}
	if len(table.pages) != 3 {
		t.Errorf("%d pages", len(table.pages))
	}
	if table.grows.TryLock() {
		table.grows.Unlock()
	} else {
		t.Error("the table is held after the refusal")
	}
}
