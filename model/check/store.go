package check

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// chunkStates is the states of a chunk: what one worker takes at a time.
const chunkStates = 2048

type (
	chunk[S comparable] [chunkStates]S
	parents             [chunkStates]uint32
)

// noParent is the parent of an initial state.
const noParent = ^uint32(0)

// store keeps states in chunks. A state's index is its place in all chunks.
// With fingerprints a chunk is used again once its states are expanded; the
// exact engine keeps all of them, and beside each state its parent's index.
type store[S comparable] struct {
	exact  bool
	mem    *memory
	grows  sync.Mutex
	free   []uint32
	n      uint32
	chunks atomic.Pointer[[]*chunk[S]] // replaced by a longer copy as it grows
	from   atomic.Pointer[[]*parents]
}

func newStore[S comparable](exact bool, mem *memory) *store[S] {
	st := &store[S]{exact: exact, mem: mem}
	st.chunks.Store(new(make([]*chunk[S], 64)))
	st.from.Store(new(make([]*parents, 64)))
	return st
}

func (st *store[S]) at(index uint32) *S {
	return &(*st.chunks.Load())[index/chunkStates][index%chunkStates]
}

func (st *store[S]) parent(index uint32) *uint32 {
	return &(*st.from.Load())[index/chunkStates][index%chunkStates]
}

// fresh returns the number of an empty chunk; it returns false if there is no
// memory, or no index is left.
func (st *store[S]) fresh() (uint32, bool) {
	st.grows.Lock()
	defer st.grows.Unlock()
	if last := len(st.free) - 1; last >= 0 {
		n := st.free[last]
		st.free = st.free[:last]
		return n, true
	}
	bytes := chunkStates * int(unsafe.Sizeof(*new(S)))
	if st.exact {
		bytes += chunkStates * 4
	}
	if st.n >= noParent/chunkStates || !st.mem.take(bytes) {
		return 0, false
	}
	n := st.n
	st.n++
	longer(&st.chunks, n, new(chunk[S]))
	if st.exact {
		longer(&st.from, n, new(parents))
	}
	return n, true
}

// longer puts an item at n, in a copy of twice the length if it has no room.
// Readers look only at items whose index they have from a slot of the table,
// which was written afterwards.
func longer[T any](list *atomic.Pointer[[]T], n uint32, item T) {
	items := *list.Load()
	if int(n) == len(items) {
		copied := make([]T, 2*len(items))
		copy(copied, items)
		list.Store(&copied)
		items = copied
	}
	items[n] = item
}

// release gives a chunk back whose states were expanded.
func (st *store[S]) release(n uint32) {
	if st.exact {
		return
	}
	st.grows.Lock()
	st.free = append(st.free, n)
	st.grows.Unlock()
}

// span is states of one level, in one chunk.
type span struct{ chunk, from, to uint32 }

// shelf is where one worker puts the states that it finds.
type shelf[S comparable] struct {
	*store[S]
	open     bool
	now      span   // of the chunk that is being filled
	finished []span // of this level
}

// next returns the index of the next place, or false if there is no memory.
func (sh *shelf[S]) next() (uint32, bool) {
	if !sh.open || sh.now.to == chunkStates {
		sh.finish()
		n, ok := sh.fresh()
		if !ok {
			return 0, false
		}
		sh.now, sh.open = span{chunk: n}, true
	}
	return sh.now.chunk*chunkStates + sh.now.to, true
}

// keep says that the place of next is taken.
func (sh *shelf[S]) keep() { sh.now.to++ }

// finish ends the span; the chunk is filled further.
func (sh *shelf[S]) finish() {
	if sh.now.from < sh.now.to {
		sh.finished = append(sh.finished, sh.now)
		sh.now.from = sh.now.to
	}
}

// level returns the spans of the level that ends, and begins another.
func (sh *shelf[S]) level() []span {
	sh.finish()
	if !sh.exact {
		sh.open = false // the chunk is free once it is expanded
	}
	spans := sh.finished
	sh.finished = nil
	return spans
}
