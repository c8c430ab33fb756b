package tap

import (
	"encoding/binary"
	"fmt"
	"io"
)

// maxFrame bounds one frame in bytes. franz-go and Kafka both default to 100 MiB
// and less; a longer size is garbage, not a frame.
const maxFrame = 256 << 20

// cut splits b into whole frames, size prefix included, and the rest. A size
// that cannot be one makes all of b a single frame that decodes to nothing, so
// that the broker sees what the process wrote.
func cut(b []byte) (frames [][]byte, rest []byte) {
	for len(b) >= 4 {
		size := binary.BigEndian.Uint32(b)
		if size > maxFrame {
			return append(frames, append([]byte(nil), b...)), nil
		}
		n := 4 + int(size)
		if len(b) < n {
			break
		}
		frames = append(frames, append([]byte(nil), b[:n]...))
		b = b[n:]
	}
	if len(b) == 0 {
		return frames, nil
	}
	return frames, append([]byte(nil), b...)
}

// readFrame reads one frame, size prefix included.
func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes: more than %d cannot be one", n, maxFrame)
	}
	frame := make([]byte, 4+int(n))
	copy(frame, size[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// correlation returns the correlation id of a reply frame, or -1.
func correlation(frame []byte) int32 {
	if len(frame) < 8 {
		return -1
	}
	return int32(binary.BigEndian.Uint32(frame[4:]))
}
