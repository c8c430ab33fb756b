package check

import (
	"math/bits"
	"slices"
	"unsafe"
)

// format is how states are packed: only the bits in which they are known to
// differ from a base. States are written to be read, with room in every field;
// what differs is often less than a quarter. A format does not change.
type format[S comparable] struct {
	words []packing // by word of the state
	size  int       // words of a packed state
}

// packing is where the bits of one word go: turned, between the bits of others.
// Moving them close together would pack them a little better, and take five
// times as long.
type packing struct {
	offset     uintptr // in the state
	base, mask uint64
	own        uint64 // 1 where the bits are not also those of the word before
	into       int    // word of the packed state
	turn       int    // bits to the left
}

// bare returns a format that packs nothing but base.
func bare[S comparable](base *S) *format[S] {
	f := &format[S]{size: 1}
	size := unsafe.Sizeof(*base)
	for at := uintptr(0); at < size; at += 8 {
		p := packing{offset: at, own: ^uint64(0)}
		if rest := size - at; rest < 8 {
			var own [8]byte
			for i := range rest {
				own[i] = 0xff
			}
			if size >= 8 { // the last word reaches back into the one before
				p.offset = size - 8
				copy(own[8-rest:], own[:rest])
				clear(own[:8-rest])
			}
			p.own = word(unsafe.Pointer(&own), 0)
		}
		p.base = load(base, p.offset)
		f.words = append(f.words, p)
	}
	return f
}

// load returns the word at an offset; bytes behind the end of a state that is
// shorter than a word are zero.
func load[S comparable](s *S, offset uintptr) uint64 {
	if unsafe.Sizeof(*s) >= 8 {
		return word(unsafe.Pointer(s), offset)
	}
	var short [8]byte
	copy(short[:], unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s)))
	return word(unsafe.Pointer(&short), 0)
}

func save[S comparable](s *S, offset uintptr, v uint64) {
	if unsafe.Sizeof(*s) >= 8 {
		*(*uint64)(unsafe.Add(unsafe.Pointer(s), offset)) = v
		return
	}
	short := unsafe.Slice((*byte)(unsafe.Pointer(&v)), 8)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s)), short)
}

// pack writes s into size words. It returns false if s differs from the base in
// other bits than the format's.
func (f *format[S]) pack(s *S, into []uint64) bool {
	clear(into)
	var strange uint64
	for i := range f.words {
		p := &f.words[i]
		x := (load(s, p.offset) ^ p.base) & p.own
		strange |= x &^ p.mask
		into[p.into] |= bits.RotateLeft64(x, p.turn)
	}
	return strange == 0
}

// fits says whether pack would return true.
func (f *format[S]) fits(s *S) bool {
	var strange uint64
	for i := range f.words {
		p := &f.words[i]
		strange |= (load(s, p.offset) ^ p.base) & p.own &^ p.mask
	}
	return strange == 0
}

// unpack is the reverse of pack. The last word goes first: what it has of the
// word before is wrong.
func (f *format[S]) unpack(from []uint64, s *S) {
	for i := len(f.words) - 1; i >= 0; i-- {
		p := &f.words[i]
		x := bits.RotateLeft64(from[p.into], -p.turn) & p.mask
		save(s, p.offset, x^p.base)
	}
}

// wider returns the format that packs each of some states too.
func (f *format[S]) wider(states ...S) *format[S] {
	w := &format[S]{words: slices.Clone(f.words)}
	for i := range w.words {
		p := &w.words[i]
		for j := range states {
			p.mask |= (load(&states[j], p.offset) ^ p.base) & p.own
		}
	}
	w.place()
	return w
}

// place gives each word its place: the words with most bits first, each where it
// first fits between the others.
func (f *format[S]) place() {
	order := make([]*packing, len(f.words))
	for i := range f.words {
		order[i] = &f.words[i]
	}
	slices.SortStableFunc(order, func(a, b *packing) int {
		return bits.OnesCount64(b.mask) - bits.OnesCount64(a.mask)
	})
	taken := []uint64{0}
	for _, p := range order {
		p.into, p.turn = 0, 0
		for taken[p.into]&bits.RotateLeft64(p.mask, p.turn) != 0 {
			if p.turn++; p.turn < 64 {
				continue
			}
			p.turn = 0
			if p.into++; p.into == len(taken) {
				taken = append(taken, 0)
			}
		}
		taken[p.into] |= bits.RotateLeft64(p.mask, p.turn)
	}
	f.size = len(taken)
}

// guess returns a format for what some walks through the space see: most of what
// the search will. Each walk takes steps that its number draws.
func guess[S comparable](spec *Spec[S], l *layout[S]) *format[S] {
	const walks, steps = 8, 128
	first := spec.canon(spec.Init[0])
	l.clean(&first)
	var seen []S
	var c Out[S]
	for walk := range uint64(walks) {
		s := spec.Init[walk%uint64(len(spec.Init))]
		draw := walk
		for range steps {
			s = spec.canon(s)
			l.clean(&s)
			seen = append(seen, s)
			c.next = c.next[:0]
			next := c.ask(spec.Next, &s)
			if len(next) == 0 {
				break
			}
			draw = mix(draw^secret[2], secret[3])
			s = next[draw%uint64(len(next))]
		}
	}
	return bare(&first).wider(seen...)
}
