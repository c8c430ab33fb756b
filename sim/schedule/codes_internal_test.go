package schedule

import (
	"cmp"
	"slices"
	"testing"
)

// TestTables: the error table is sorted, and every error that is drawn is in it.
func TestTables(t *testing.T) {
	byCode := func(a, b kafkaError) int { return cmp.Compare(a.code, b.code) }
	if !slices.IsSortedFunc(kafkaErrors, byCode) {
		t.Error("kafkaErrors is not sorted by number")
	}
	for _, d := range drawnCodes {
		for _, name := range slices.Concat(d.request, d.reply) {
			if !slices.Contains(KafkaErrors(), name) {
				t.Errorf("%s draws %s, which does not parse", d.op, name)
			}
		}
	}
	if !slices.IsSorted(defaultPauses) || !slices.IsSorted(defaultDelays) {
		t.Error("durations stand shortest first, or shrinking skips some")
	}
}
