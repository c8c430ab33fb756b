package check

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// packs draws states with few bits, widens a format by them, and packs.
func packs[S comparable](t *testing.T, r *rand.Rand) {
	t.Helper()
	size := unsafe.Sizeof(*new(S))
	use := make([]byte, size)
	for i := range use {
		if r.IntN(3) > 0 {
			use[i] = byte(r.IntN(256) & r.IntN(128))
		}
	}
	draw := func() (s S) {
		for i, mask := range use {
			*(*byte)(unsafe.Add(unsafe.Pointer(&s), i)) = byte(r.Uint32())&mask ^ 0x81
		}
		return s
	}
	base := draw()
	f := bare(&base)
	if base2 := draw(); base2 != base && f.fits(&base2) {
		t.Fatalf("a bare format of %d bytes fits more than its base", size)
	}
	var states []S
	for range 200 {
		states = append(states, draw())
	}
	f = f.wider(states[:100]...).wider(states[100:]...)
	if most := int(size+7) / 8; f.size > most {
		t.Fatalf("%d words for %d bytes", f.size, size)
	}
	into := make([]uint64, f.size)
	for _, s := range states {
		into[0] = ^uint64(0) // of what was there before
		var back S
		if !f.fits(&s) || !f.pack(&s, into) {
			t.Fatalf("%v is refused", s)
		}
		if f.unpack(into, &back); back != s {
			t.Fatalf("%v comes back as %v", s, back)
		}
	}
	for i, mask := range use {
		odd := base
		if *(*byte)(unsafe.Add(unsafe.Pointer(&odd), i)) ^= 0xff; mask != 0xff {
			if f.fits(&odd) || f.pack(&odd, into) {
				t.Fatalf("byte %d of %d: bits that are not of the format are not seen", i, size)
			}
		}
	}
}

func TestPackingComesBack(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		packs[[1]byte](t, r)
		packs[[3]byte](t, r)
		packs[[7]byte](t, r)
		packs[[8]byte](t, r)
		packs[[9]byte](t, r)
		packs[[15]byte](t, r)
		packs[[16]byte](t, r)
		packs[[33]byte](t, r)
		packs[[104]byte](t, r)
		packs[struct {
			A uint32
			B [5]uint16
		}](t, r)
	}
}

func TestPackingIsSmall(t *testing.T) {
	type state struct {
		Set   uint64
		Flags [40]bool
	}
	f := bare(new(state)).wider(state{Set: 1<<20 - 1, Flags: [40]bool{0: true, 7: true, 8: true,
		17: true, 20: true, 25: true, 31: true, 33: true, 39: true}})
	if f.size != 1 {
		t.Errorf("29 bits in %d words", f.size)
	}
}

// TestLateBits goes where no walk of the guess has been: states outgrow the
// format again and again, on several shelves.
func TestLateBits(t *testing.T) {
	type state struct {
		Way   uint8
		Count uint32
		Big   [3]uint64
	}
	spec := Spec[state]{
		Init: []state{{}},
		Next: func(c *Out[state], s *state) {
			if s.Count == 3000 {
				return
			}
			for way := range 8 {
				n := c.Do("go", way)
				n.Way, n.Count = uint8(way), s.Count+1
				n.Big[n.Count%3] = 1 << (n.Count / 50)
			}
		},
	}
	for _, o := range each {
		r := Check(spec, o)
		if r.Verdict != Held || r.States != 24_001 || r.Depth != 3000 {
			t.Errorf("%s, %d workers: %s, %d states", r.Engine, r.Workers, r.Verdict, r.States)
		}
		o.forget = 56 // states of different formats are compared
		if r := Check(spec, o); o.Engine == Exact && r.States != 24_001 {
			t.Errorf("%d workers, equal hashes: %d states", r.Workers, r.States)
		}
	}
}

// TestStrangeBitsAreSeen compares with a state in a narrow format one whose
// strange bit would fall where that one has its own.
func TestStrangeBitsAreSeen(t *testing.T) {
	type state [2]uint64
	spec := Spec[state]{Init: []state{{}}, Next: func(*Out[state], *state) {}}
	g, err := newSearch(&spec, Options{Engine: Exact, Workers: 1, Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w := g.workers[0]
	a, b := state{0, 1}, state{1, 0}
	at, _ := w.shelf.write(&a, noParent)
	w.shelf.keep()
	if _, ok := w.shelf.write(&b, noParent); !ok || !w.is(at, &a) {
		t.Fatalf("%v is not found at %d", a, at)
	}
	if w.is(at, &b) {
		t.Errorf("%v is taken for %v", b, a)
	}
}
