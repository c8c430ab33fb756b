package check

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// pageSlots is the slots of a page of the table. Pages make it possible to grow
// the table while holding hardly more than it will have.
const pageSlots = 1 << 15

type page [pageSlots]uint64

const pageBytes = 8 * pageSlots

// table is an open-addressing hash table of 64-bit slots that are taken by
// compare-and-swap. A slot is zero, or a key in its upper bits and a value in
// the others; mask says which bits are the key. Fingerprints are all key.
//
// A key's place is the key as a fraction of all keys, so the table is nearly in
// the order of its keys, and growing it is one pass from front to back.
//
// Searching and taking slots stands between enter and leave.
type table struct {
	mask  uint64
	mem   *memory
	grows sync.RWMutex // held for reading between enter and leave
	pages []*page
	slots uint64
	used  atomic.Int64 // slots taken, and those that may yet be before leave
	limit int64        // on used
}

func newTable(mask uint64, mem *memory) (*table, bool) {
	t := &table{mask: mask, mem: mem}
	if !mem.take(pageBytes) {
		return nil, false
	}
	t.sized([]*page{new(page)})
	return t, true
}

// sized takes the pages. Three quarters of them fill up; probes get long beyond.
func (t *table) sized(pages []*page) {
	t.pages = pages
	t.slots = pageSlots * uint64(len(pages))
	t.limit = int64(t.slots / 4 * 3)
}

// enter makes room for n more slots; it returns false if there is no memory.
func (t *table) enter(n int) bool {
	for {
		t.grows.RLock()
		if t.used.Add(int64(n)) <= t.limit {
			return true
		}
		t.used.Add(-int64(n))
		t.grows.RUnlock()
		if !t.grow(n) {
			return false
		}
	}
}

// leave ends what enter began, and gives back the slots that were not taken.
func (t *table) leave(unused int) {
	t.used.Add(-int64(unused))
	t.grows.RUnlock()
}

func (t *table) home(key uint64) uint64 {
	at, _ := bits.Mul64(key&t.mask, t.slots)
	return at
}

func (t *table) slot(at uint64) *uint64 { return &t.pages[at/pageSlots][at%pageSlots] }

func (t *table) after(at uint64) uint64 {
	if at++; at < t.slots {
		return at
	}
	return 0
}

// add takes a slot for a key that is all of the slot. It returns false if the
// key is there.
func (t *table) add(key uint64) bool {
	for at := t.home(key); ; at = t.after(at) {
		slot := t.slot(at)
		got := atomic.LoadUint64(slot)
		if got == 0 {
			if atomic.CompareAndSwapUint64(slot, 0, key) {
				return true
			}
			got = atomic.LoadUint64(slot)
		}
		if got == key {
			return false
		}
	}
}

// grow makes room for n more: by half, or by less if there is not the memory.
func (t *table) grow(n int) bool {
	t.grows.Lock()
	defer t.grows.Unlock()
	if t.used.Load()+int64(n) <= t.limit {
		return true // somebody else has grown it
	}
	more := max((len(t.pages)+1)/2, n/(pageSlots/4*3)+1)
	for !t.mem.take(more * pageBytes) {
		if more /= 2; more == 0 {
			return false
		}
	}
	t.move(make([]*page, len(t.pages)+more))
	return t.used.Load()+int64(n) <= t.limit
}

// move fills the new pages from the old, and uses the old again as soon as they
// are empty.
func (t *table) move(pages []*page) {
	old := t.pages
	t.sized(pages)
	var free []*page
	fresh := func() *page {
		if last := len(free) - 1; last >= 0 {
			p := free[last]
			free = free[:last]
			return p
		}
		return new(page)
	}
	for i, p := range old {
		for _, key := range p {
			if key == 0 {
				continue
			}
			at := t.home(key)
			for {
				into := &t.pages[at/pageSlots]
				if *into == nil {
					*into = fresh()
				}
				if slot := &(*into)[at%pageSlots]; *slot == 0 {
					*slot = key
					break
				}
				at = t.after(at)
			}
		}
		clear(p[:])
		old[i] = nil
		free = append(free, p)
	}
	for i, p := range t.pages {
		if p == nil {
			t.pages[i] = fresh()
		}
	}
}

// memory counts the bytes that a search holds, against a bound.
type memory struct {
	held, most atomic.Int64
	bound      int64
}

func (m *memory) give(bytes int) { m.held.Add(-int64(bytes)) }

func (m *memory) take(bytes int) bool {
	held := m.held.Add(int64(bytes))
	if held > m.bound {
		m.held.Add(-int64(bytes))
		return false
	}
	for most := m.most.Load(); held > most; most = m.most.Load() {
		if m.most.CompareAndSwap(most, held) {
			break
		}
	}
	return true
}
