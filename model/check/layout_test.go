package check

import (
	"math/bits"
	"strings"
	"testing"
	"unsafe"
)

type gappy struct {
	A uint8
	B uint32
	_ uint16
	C [2]struct {
		D bool
		E int16
	}
	F uint8
}

// dirty sets the bytes that == does not look at.
func dirty(s *gappy) {
	l, _ := layoutOf[gappy](0)
	for _, g := range l.gaps {
		for i := range g.size {
			*(*byte)(unsafe.Add(unsafe.Pointer(s), g.from+i)) = 0xa5
		}
	}
}

func TestLayoutLooksAtWhatEqualLooksAt(t *testing.T) {
	l, err := layoutOf[gappy](1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := gappy{A: 1, B: 2, F: 3}, gappy{A: 1, B: 2, F: 3}
	dirty(&b)
	if a != b || l.same(&a, &b) {
		t.Fatal("the test does not set padding")
	}
	l.clean(&b)
	if !l.same(&a, &b) || l.hash(&a) != l.hash(&b) {
		t.Error("padding makes a difference")
	}
	for i := range unsafe.Sizeof(a) {
		c := a
		*(*byte)(unsafe.Add(unsafe.Pointer(&c), i)) ^= 0x10
		l.clean(&c)
		if l.same(&a, &c) != (a == c) || (l.hash(&a) == l.hash(&c)) != (a == c) {
			t.Errorf("byte %d: == says %v", i, a == c)
		}
	}
}

// TestPaddingMakesNoState lets Next leave anything in the padding.
func TestPaddingMakesNoState(t *testing.T) {
	spec := Spec[gappy]{
		Init: []gappy{{}},
		Next: func(c *Out[gappy], s *gappy) {
			c.Do("stay", 0)
			for i := range 2 {
				n := c.Do("turn", i)
				n.B = (n.B + uint32(i) + 1) % 100
				if i == 1 {
					dirty(n)
				}
			}
			if s.B == 50 {
				dirty(c.Do("stay", 1))
			}
		},
	}
	dirty(&spec.Init[0])
	for _, o := range each {
		if r := Check(spec, o); r.Verdict != Held || r.States != 100 || r.Quiescent != 0 {
			t.Errorf("%s: %d states, %d at rest, %s", r.Engine, r.States, r.Quiescent, r.Why)
		}
	}
	spec.Next = func(c *Out[gappy], _ *gappy) { dirty(c.Do("stay", 0)) }
	if r := Check(spec, Options{}); r.States != 1 || r.Quiescent != 1 {
		t.Errorf("%d states, %d at rest, want 1 and 1", r.States, r.Quiescent)
	}
}

func everySize[S comparable](t *testing.T) {
	l, err := layoutOf[S](7)
	if err != nil {
		t.Fatal(err)
	}
	var a S
	seen := map[uint64]bool{l.hash(&a): true}
	for i := range 8 * unsafe.Sizeof(a) {
		b := a
		*(*byte)(unsafe.Add(unsafe.Pointer(&b), i/8)) ^= 1 << (i % 8)
		if h := l.hash(&b); seen[h] || l.same(&a, &b) {
			t.Errorf("bit %d of %d bytes is not seen", i, unsafe.Sizeof(a))
		} else {
			seen[h] = true
		}
	}
}

func TestLayoutSeesEveryBit(t *testing.T) {
	everySize[[1]byte](t)
	everySize[[3]byte](t)
	everySize[[7]byte](t)
	everySize[[8]byte](t)
	everySize[[9]byte](t)
	everySize[[15]byte](t)
	everySize[[16]byte](t)
	everySize[[17]byte](t)
	everySize[[24]byte](t)
	everySize[[31]byte](t)
	everySize[[33]byte](t)
	everySize[[40]byte](t)
	everySize[[101]byte](t)
	l, err := layoutOf[struct{}](0)
	if err != nil || !l.same(new(struct{}), new(struct{})) || l.hash(new(struct{})) == 0 {
		t.Error("a state without anything does not work:", err)
	}
}

// TestHashSpreads counts the fingerprints of states that are nearly alike, by
// their upper and their lower bits. Of 2^16 that fall at random into 2^16, 1/e
// leave a place empty.
func TestHashSpreads(t *testing.T) {
	type state struct {
		A [16]uint8
		B uint16
		C [3]bool
	}
	for seed := range uint64(4) {
		l, err := layoutOf[state](seed)
		if err != nil {
			t.Fatal(err)
		}
		upper, lower := make([]bool, 1<<16), make([]bool, 1<<16)
		for i := range 1 << 16 {
			var s state
			s.A[3], s.A[11], s.C[1] = uint8(i), uint8(i>>8&127), i>>15 == 1
			h := l.hash(&s)
			upper[h>>48], lower[h&0xffff] = true, true
		}
		for name, taken := range map[string][]bool{"upper": upper, "lower": lower} {
			empty := 0
			for _, is := range taken {
				if !is {
					empty++
				}
			}
			if want := 24109; empty < want-600 || empty > want+600 {
				t.Errorf("seed %d: %d places of the %s bits are empty, want about %d",
					seed, empty, name, want)
			}
		}
	}
}

// TestHashChangesHalfOfItsBits flips each bit of a state.
func TestHashChangesHalfOfItsBits(t *testing.T) {
	type state [5]uint64
	l, err := layoutOf[state](3)
	if err != nil {
		t.Fatal(err)
	}
	changed, flips := 0, 0
	for i := range 64 {
		s := state{uint64(i), 2, 3, uint64(i) << 40, 5}
		h := l.hash(&s)
		for bit := range 320 {
			other := s
			other[bit/64] ^= 1 << (bit % 64)
			changed += bits.OnesCount64(h ^ l.hash(&other))
			flips++
		}
	}
	if mean := float64(changed) / float64(flips); mean < 31.8 || mean > 32.2 {
		t.Errorf("%.2f bits change, want 32", mean)
	}
}

func refused[S comparable](t *testing.T, path string) {
	t.Helper()
	var zero S
	r := Check(Spec[S]{Init: []S{zero}, Next: func(*Out[S], *S) {}}, Options{})
	if r.Verdict != Undecided || !strings.Contains(r.Why, path+" is a ") {
		t.Errorf("%s: %s %s, want %s refused", r.Spec, r.Verdict, r.Why, path)
	}
}

func TestStatesThatAreRefused(t *testing.T) {
	type inner struct{ Name string }
	type outer struct {
		N     int
		Procs [2]inner
	}
	refused[outer](t, "check.outer.Procs[].Name")
	refused[*int](t, "*int")
	refused[float64](t, "float64")
	refused[struct{ C chan int }](t, ".C")
	refused[struct{ E error }](t, ".E")
}
