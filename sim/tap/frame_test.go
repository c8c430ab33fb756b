package tap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sized(size uint32, body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, size), body...)
}

func TestCut(t *testing.T) {
	one, two, empty := sized(3, "abc"), sized(2, "de"), sized(0, "")
	all := bytes.Join([][]byte{one, empty, two}, nil)
	huge := sized(maxFrame+1, "xyz")
	negative := sized(math.MaxUint32, "xyz")
	for _, x := range []struct {
		name   string
		in     []byte
		frames [][]byte
		rest   []byte
	}{
		{"nothing", nil, nil, nil},
		{"half a size", one[:2], nil, one[:2]},
		{"half a frame", one[:6], nil, one[:6]},
		{"one", one, [][]byte{one}, nil},
		{"three", all, [][]byte{one, empty, two}, nil},
		{"one and a half", all[:9], [][]byte{one}, all[7:9]},
		{"too large", huge, [][]byte{huge}, nil},
		{"negative", negative, [][]byte{negative}, nil},
		{"a frame, then garbage", append(one[:7:7], huge...), [][]byte{one, huge}, nil},
		{"as large as can be", sized(maxFrame, "x"), nil, sized(maxFrame, "x")},
	} {
		frames, rest := cut(x.in)
		if diff := cmp.Diff(x.frames, frames); diff != "" {
			t.Errorf("%s: frames (-want +got):\n%s", x.name, diff)
		}
		if diff := cmp.Diff(x.rest, rest); diff != "" {
			t.Errorf("%s: rest (-want +got):\n%s", x.name, diff)
		}
	}
}

// TestCutAnywhere splits a stream of frames in two and three at every boundary.
func TestCutAnywhere(t *testing.T) {
	want := [][]byte{sized(3, "abc"), sized(0, ""), sized(5, "defgh")}
	all := bytes.Join(want, nil)
	for i := range len(all) + 1 {
		for j := i; j <= len(all); j++ {
			var got [][]byte
			var rest []byte
			for _, b := range [][]byte{all[:i], all[i:j], all[j:]} {
				var frames [][]byte
				frames, rest = cut(append(rest, b...))
				got = append(got, frames...)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(rest) != 0 {
				t.Fatalf("split at %d and %d: %d bytes left, frames (-want +got):\n%s",
					i, j, len(rest), diff)
			}
		}
	}
}

// TestCutCopies: a client may reuse its buffer at once.
func TestCutCopies(t *testing.T) {
	b := append(sized(2, "ab"), 0, 0)
	frames, rest := cut(b)
	for i := range b {
		b[i] = 0xff
	}
	if !bytes.Equal(frames[0], sized(2, "ab")) || !bytes.Equal(rest, []byte{0, 0}) {
		t.Errorf("frames share the caller's bytes: % x, % x", frames, rest)
	}
}

func TestReadFrame(t *testing.T) {
	r := bytes.NewReader(append(sized(3, "abc"), sized(0, "")...))
	for _, want := range [][]byte{sized(3, "abc"), sized(0, "")} {
		got, err := readFrame(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("read % x, %v, not % x", got, err, want)
		}
	}
	if _, err := readFrame(r); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v", err)
	}
	for name, torn := range map[string][]byte{
		"size": {0, 0}, "body": sized(3, "ab"), "no body": sized(3, ""),
	} {
		if _, err := readFrame(bytes.NewReader(torn)); err == nil {
			t.Errorf("a torn %s reads as a frame", name)
		}
	}
	if _, err := readFrame(bytes.NewReader(sized(maxFrame+1, ""))); err == nil {
		t.Error("a size that cannot be one reads as a frame")
	}
	if got := correlation(sized(3, "abc")); got != -1 {
		t.Errorf("a frame without a correlation id has %d", got)
	}
}
