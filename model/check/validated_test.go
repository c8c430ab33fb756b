package check_test

import (
	"fmt"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// validated returns the specification of hop 4 with so many records.
func validated(t testing.TB, records int) check.Spec[specs.ValidatedState] {
	t.Helper()
	spec, err := specs.Validated(map[string]int{"records": records})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestSpinFindsTheSameOfValidated has SPIN search the same protocol, step by step the
// same.
func TestSpinFindsTheSameOfValidated(t *testing.T) {
	for _, records := range []int{1, 3} {
		want := spin(t, "validated.pml", fmt.Sprintf("-DR=%d", records))
		got := check.Check(validated(t, records), check.Options{Engine: check.Exact})
		if want.errors != 0 || got.Verdict != check.Held ||
			got.States != want.states || got.Transitions != want.transitions-1 {
			t.Errorf("%d records: %s, %d states and %d transitions; SPIN has %+v",
				records, got.Verdict, got.States, got.Transitions, want)
		}
	}
}

// BenchmarkValidated measures both engines, with one worker and two, on eight million
// states of hop 4.
func BenchmarkValidated(b *testing.B) {
	for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", engine, workers), func(b *testing.B) {
				measure(b, validated(b, 5), check.Options{Engine: engine, Workers: workers})
			})
		}
	}
}

// BenchmarkSpinValidated is [BenchmarkSpin] for hop 4.
func BenchmarkSpinValidated(b *testing.B) {
	for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
		b.Run(engine.String(), func(b *testing.B) {
			var ours, theirs float64
			var states int64
			for b.Loop() {
				s := spin(b, "validated.pml", "-DR=5")
				theirs += s.seconds
				start := processor(b)
				states += check.Check(validated(b, 5), check.Options{Engine: engine}).States
				ours += processor(b) - start
				b.ReportMetric(float64(s.bytes)/float64(s.states), "SPIN-B/state")
			}
			b.ReportMetric(float64(states)/ours/1e6, "Mstates/cpu-s")
			b.ReportMetric(float64(states)/theirs/1e6, "SPIN-Mstates/cpu-s")
			b.ReportMetric(theirs/ours, "x-SPIN")
		})
	}
}
