package check

import (
	"sync"
	"sync/atomic"
)

// chunkStates is the states of a chunk: what one worker takes at a time.
const chunkStates = 2048

// chunk is states in one format. Only who fills it writes to it.
type chunk[S comparable] struct {
	format  *format[S]
	data    []uint64
	parents []uint32 // exact only
}

func (c *chunk[S]) packed(at uint32) []uint64 {
	size := uint32(c.format.size)
	return c.data[at*size : (at+1)*size]
}

// noParent is the parent of an initial state.
const noParent = ^uint32(0)

// store keeps states in chunks. A state's index is its place in all chunks.
// With fingerprints a chunk is used again once its states are expanded; the
// exact engine keeps all of them, and beside each state its parent's index.
type store[S comparable] struct {
	exact  bool
	mem    *memory
	format atomic.Pointer[format[S]] // of chunks to come; wider than all before
	chunks atomic.Pointer[[]*chunk[S]]

	grows sync.Mutex // for what follows, and to replace what is above
	free  []uint32
	n     uint32
}

func newStore[S comparable](exact bool, mem *memory, f *format[S]) *store[S] {
	st := &store[S]{exact: exact, mem: mem}
	st.format.Store(f)
	st.chunks.Store(new(make([]*chunk[S], 64)))
	return st
}

// at returns the chunk and the place in it. The index is from a slot of the
// table, or from a span of a level: both came after the state was written.
func (st *store[S]) at(index uint32) (*chunk[S], uint32) {
	return (*st.chunks.Load())[index/chunkStates], index % chunkStates
}

// state unpacks the state at an index.
func (st *store[S]) state(index uint32, into *S) {
	c, at := st.at(index)
	c.format.unpack(c.packed(at), into)
}

func (st *store[S]) parent(index uint32) uint32 {
	c, at := st.at(index)
	return c.parents[at]
}

// fit makes the format for chunks to come pack s.
func (st *store[S]) fit(s *S) {
	if st.format.Load().fits(s) {
		return
	}
	st.grows.Lock()
	defer st.grows.Unlock()
	st.format.Store(st.format.Load().wider(*s))
}

// fresh returns the number of an empty chunk; it returns false if there is no
// memory, or no index is left.
func (st *store[S]) fresh() (uint32, bool) {
	st.grows.Lock()
	defer st.grows.Unlock()
	f := st.format.Load()
	n := st.n
	if last := len(st.free) - 1; last >= 0 {
		n = st.free[last]
		c := (*st.chunks.Load())[n]
		if cap(c.data) >= f.size*chunkStates {
			st.free = st.free[:last]
			c.format, c.data = f, c.data[:f.size*chunkStates]
			return n, true
		}
	}
	bytes := chunkStates * 8 * f.size
	if st.exact {
		bytes += chunkStates * 4
	}
	if n >= noParent/chunkStates || !st.mem.take(bytes) {
		return 0, false
	}
	c := &chunk[S]{format: f, data: make([]uint64, f.size*chunkStates)}
	if st.exact {
		c.parents = make([]uint32, chunkStates)
	}
	if n == st.n {
		st.n++
	} else {
		st.free = st.free[:len(st.free)-1]
		st.mem.give(8 * cap((*st.chunks.Load())[n].data))
	}
	st.put(n, c)
	return n, true
}

// put writes a chunk into the list, or into a copy of twice the length.
func (st *store[S]) put(n uint32, c *chunk[S]) {
	chunks := *st.chunks.Load()
	if int(n) == len(chunks) {
		longer := make([]*chunk[S], 2*len(chunks))
		copy(longer, chunks)
		st.chunks.Store(&longer)
		chunks = longer
	}
	chunks[n] = c
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
	open     *chunk[S] // being filled; nil: none
	now      span      // of it
	finished []span    // of this level
}

// write packs a state into the next place and returns its index; it returns
// false if there is no memory. The place is taken by keep.
func (sh *shelf[S]) write(s *S, parent uint32) (uint32, bool) {
	for {
		if sh.open == nil || sh.now.to == chunkStates {
			sh.finish()
			sh.fit(s)
			n, ok := sh.fresh()
			if !ok {
				return 0, false
			}
			sh.now, sh.open = span{chunk: n}, (*sh.chunks.Load())[n]
		}
		if sh.open.format.pack(s, sh.open.packed(sh.now.to)) {
			break
		}
		sh.finish()
		sh.open = nil
	}
	if sh.exact {
		sh.open.parents[sh.now.to] = parent
	}
	return sh.now.chunk*chunkStates + sh.now.to, true
}

// keep says that the place of write is taken.
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
		sh.open = nil // the chunk is free once it is expanded
	}
	spans := sh.finished
	sh.finished = nil
	return spans
}
