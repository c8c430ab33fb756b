package check

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// A block is the steps that a worker looks up together. Nearly all time goes to
// waiting for the table's memory; in a block many of these waits overlap.
const (
	block = 512
	slack = 256 // for the steps of the state that fills the block
)

// worker expands states and looks up where their steps lead.
type worker[S comparable] struct {
	*search[S]
	shelf   shelf[S]
	out     Out[S] // out.next is the block
	hashes  []uint64
	parents []uint32 // of the states of the block; exact only
	parent  S        // being expanded,
	state   S        // and what Next may look at
	packed  []uint64 // a state that is looked up, in some format
	depth   int      // of the states of the block
	touched uint64
	names   []name // of the block's steps, if Options.Actions
	counts  map[ActionCount]int64
}

func newWorker[S comparable](g *search[S]) *worker[S] {
	w := &worker[S]{search: g, shelf: shelf[S]{store: g.store}}
	w.packed = make([]uint64, (unsafe.Sizeof(w.state)+7)/8+1)
	w.out.next = make([]S, 0, block+slack)
	if g.o.Actions {
		w.out.names, w.counts = &w.names, make(map[ActionCount]int64)
	}
	return w
}

// level expands spans of the level until none is left.
func (w *worker[S]) level() {
	w.depth = w.search.depth + 1
	for !w.ended.Load() {
		i := w.taken.Add(1) - 1
		if i >= int64(len(w.spans)) {
			break
		}
		w.span(w.spans[i])
	}
	w.flush()
}

func (w *worker[S]) span(sp span) {
	quiescent := int64(0)
	for at := sp.from; at < sp.to; at++ {
		index := sp.chunk*chunkStates + at
		w.store.state(index, &w.parent)
		if w.expand(&w.parent, index) {
			quiescent++
			w.judge(w.spec.Quiescent, Quiescent, &w.parent, index)
		}
		if len(w.out.next) >= block {
			w.expanded.Add(int64(at + 1 - sp.from))
			sp.from = at + 1
			w.flush()
			if w.ended.Load() {
				break
			}
		}
	}
	w.expanded.Add(int64(sp.to - sp.from))
	w.quiescent.Add(quiescent)
	w.store.release(sp.chunk)
}

// expand adds the steps of s to the block. It says whether s is at rest.
func (w *worker[S]) expand(s *S, index uint32) bool {
	w.state = *s
	steps := w.out.ask(w.spec.Next, &w.state)
	w.layout.clean(&w.state)
	if !w.layout.same(&w.state, s) {
		w.end("Next changes the state that it is given: edit the copy that Do returns")
	}
	if w.store.exact {
		for range steps {
			w.parents = append(w.parents, index)
		}
	}
	faults := w.out.faults
	for i := range steps {
		if len(faults) > 0 && int(faults[0]) == i {
			faults = faults[1:]
			continue
		}
		if w.layout.clean(&steps[i]); !w.layout.same(&steps[i], s) {
			return false
		}
	}
	return true
}

func (w *worker[S]) judge(promise func(*S) error, which Promise, s *S, index uint32) {
	if promise == nil {
		return
	}
	if err := promise(s); err != nil {
		depth := w.depth
		if which == Quiescent {
			depth--
		}
		w.broken(Violation[S]{Promise: which, Err: err, State: *s, Depth: depth}, index)
	}
}

// flush looks up the block and empties it.
func (w *worker[S]) flush() {
	n := len(w.out.next)
	if n == 0 {
		return
	}
	w.hash()
	if w.table.enter(n) {
		w.touch()
		found := w.insert()
		w.table.leave(n - found)
		w.states.Add(int64(found))
	} else {
		w.end(outOfMemory)
	}
	if w.depth > 0 {
		w.transitions.Add(int64(n))
	}
	for _, n := range w.names {
		w.counts[ActionCount{Action: n.action, Fault: n.fault}]++
	}
	w.out.next, w.parents, w.names = w.out.next[:0], w.parents[:0], w.names[:0]
	w.between()
}

const outOfMemory = "the memory is used up"

func (w *worker[S]) hash() {
	w.hashes = w.hashes[:0]
	for i := range w.out.next {
		s := &w.out.next[i]
		if w.spec.Canon != nil {
			w.spec.Canon(s)
		}
		w.layout.clean(s)
		w.hashes = append(w.hashes, w.layout.hash(s))
	}
}

// touch loads the slots, and the states that they are likely to be compared
// with, into the cache.
func (w *worker[S]) touch() {
	sum, t := uint64(0), w.table
	for _, h := range w.hashes {
		sum += atomic.LoadUint64(t.slot(t.home(h)))
	}
	if w.store.exact {
		for _, h := range w.hashes {
			slot := atomic.LoadUint64(t.slot(t.home(h)))
			if slot != 0 && (slot^h)&exactMask == 0 {
				c, at := w.store.at(uint32(slot) - 1)
				sum += c.data[at*uint32(c.format.size)]
			}
		}
	}
	w.touched += sum
}

// insert stores the states of the block that are new, and judges them. It
// returns how many there are.
func (w *worker[S]) insert() int {
	found, parent := 0, noParent
	for i, h := range w.hashes {
		s := &w.out.next[i]
		if w.store.exact {
			parent = w.parents[i]
		} else if !w.table.add(h) {
			continue
		}
		index, ok := w.shelf.write(s, parent)
		if !ok {
			w.end(outOfMemory)
			break
		}
		if w.store.exact && !w.addExact(h, s, index) {
			continue
		}
		w.shelf.keep()
		found++
		w.judge(w.spec.Always, Always, s, index)
	}
	return found
}

// addExact takes a slot for the state at an index, which is already written. It
// returns false if the state is there already.
func (w *worker[S]) addExact(h uint64, s *S, index uint32) bool {
	t := w.table
	key := h&exactMask | uint64(index) + 1
	for at := t.home(h); ; at = t.after(at) {
		slot := t.slot(at)
		got := atomic.LoadUint64(slot)
		if got == 0 {
			if atomic.CompareAndSwapUint64(slot, 0, key) {
				return true
			}
			got = atomic.LoadUint64(slot)
		}
		if (got^h)&exactMask == 0 && w.is(uint32(got)-1, s) {
			return false
		}
	}
}

// is says whether the state at an index is s, which is also written, but not
// kept, on the worker's shelf.
func (w *worker[S]) is(index uint32, s *S) bool {
	c, at := w.store.at(index)
	if c.format == w.shelf.open.format {
		return slices.Equal(c.packed(at), w.shelf.open.packed(w.shelf.now.to))
	}
	packed := w.packed[:c.format.size]
	return c.format.pack(s, packed) && slices.Equal(c.packed(at), packed)
}
