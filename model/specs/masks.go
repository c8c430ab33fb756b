package specs

import (
	"math/bits"
	"strconv"
	"strings"
)

// Sets of offsets, batches or attempts are bit masks: small and fast, and with room for
// a simulated run.

// maxOffsets is the most that a set has room for.
const maxOffsets = 64

// bit is the set of one offset.
func bit(offset int) uint64 { return 1 << offset }

// below returns all offsets below one, 0 to 64.
func below(offset int) uint64 {
	if offset >= maxOffsets {
		return ^uint64(0)
	}
	return bit(offset) - 1
}

// offsets writes a set of offsets: "0-3,5".
func offsets(set uint64) string {
	if set == 0 {
		return "none"
	}
	var parts []string
	for set != 0 {
		first := bits.TrailingZeros64(set)
		end := first + bits.TrailingZeros64(^(set >> first))
		part := strconv.Itoa(first)
		if end > first+1 {
			part += "-" + strconv.Itoa(end-1)
		}
		parts = append(parts, part)
		set &^= below(end)
	}
	return strings.Join(parts, ",")
}
