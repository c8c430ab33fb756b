package check

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// layout is how the bytes of a state are hashed and compared. States of the
// search are cleaned: what == does not look at is zero, so two of them are
// equal where their bytes are.
type layout[S comparable] struct {
	seed uint64
	gaps []gap
	keep uint64 // bits of the fingerprint; tests keep few to see collisions
}

// gap is bytes that == does not look at: padding, and fields named "_".
type gap struct{ from, size uintptr }

// layoutOf refuses types whose bytes do not say whether they are equal.
func layoutOf[S comparable](seed uint64) (layout[S], error) {
	t := reflect.TypeFor[S]()
	l := layout[S]{seed: mix(seed^secret[0], secret[1]), keep: ^uint64(0)}
	if err := plain(t, t.String()); err != nil {
		return l, err
	}
	used := make([]bool, t.Size())
	mark(t, used)
	for i := range used {
		switch last := len(l.gaps) - 1; {
		case used[i]:
		case i > 0 && !used[i-1]:
			l.gaps[last].size++
		default:
			l.gaps = append(l.gaps, gap{uintptr(i), 1})
		}
	}
	return l, nil
}

// plain says what is wrong with a type, if something is.
func plain(t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if err := plain(f.Type, path+"."+f.Name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Array:
		return plain(t.Elem(), path+"[]")
	case reflect.Bool, reflect.Uintptr,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	}
	return fmt.Errorf("%s is a %s: a state holds numbers, bools, arrays and structs of them, "+
		"no floats and nothing with a pointer", path, t.Kind())
}

// mark sets the bytes that == looks at.
func mark(t reflect.Type, used []bool) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" {
				mark(f.Type, used[f.Offset:f.Offset+f.Type.Size()])
			}
		}
	case reflect.Array:
		size := t.Elem().Size()
		for i := range uintptr(t.Len()) {
			mark(t.Elem(), used[i*size:(i+1)*size])
		}
	default:
		for i := range used {
			used[i] = true
		}
	}
}

// clean makes s fit to be hashed and compared.
func (l *layout[S]) clean(s *S) {
	for _, g := range l.gaps {
		clear(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(s), g.from)), g.size))
	}
}

// secret is odd numbers with as many ones as zeros. Source: wyhash, final
// version 4, as the way of hashing is: multiply pairs of words, fold the product.
var secret = [4]uint64{
	0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func word(p unsafe.Pointer, at uintptr) uint64 { return *(*uint64)(unsafe.Add(p, at)) }

// tail returns the last bytes, less than eight of them, of a state of size bytes.
func tail(p unsafe.Pointer, size uintptr) uint64 {
	if size >= 8 {
		return word(p, size-8)
	}
	var v uint64
	for i := range size {
		v = v<<8 | uint64(*(*byte)(unsafe.Add(p, i)))
	}
	return v
}

// hash returns a fingerprint of a cleaned state, never zero.
func (l *layout[S]) hash(s *S) uint64 {
	p, size := unsafe.Pointer(s), unsafe.Sizeof(*s)
	h, at := l.seed, uintptr(0)
	for ; at+16 <= size; at += 16 {
		h = mix(word(p, at)^secret[1], word(p, at+8)^h)
	}
	if at+8 <= size {
		h = mix(word(p, at)^secret[2], h^secret[3])
		at += 8
	}
	if at < size {
		h = mix(tail(p, size)^secret[3], h^secret[2])
	}
	h = mix(h^secret[0], secret[1]^uint64(size))
	return max(h&l.keep, 1)
}

// same says whether two cleaned states are equal.
func (l *layout[S]) same(a, b *S) bool {
	p, q, size := unsafe.Pointer(a), unsafe.Pointer(b), unsafe.Sizeof(*a)
	at := uintptr(0)
	for ; at+8 <= size; at += 8 {
		if word(p, at) != word(q, at) {
			return false
		}
	}
	return at == size || tail(p, size) == tail(q, size)
}
