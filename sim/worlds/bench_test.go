//go:build synctests

package worlds

import (
	"runtime"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
)

// BenchmarkSchedules runs random schedules of each world, as a campaign does:
// schedules/s and virtual seconds per second.
func BenchmarkSchedules(b *testing.B) {
	for _, e := range All() {
		b.Run(e.Name, func(b *testing.B) {
			virtual := 0.0
			frame(b, func(t *testing.T) {
				r, err := sim.Campaign{World: e.World, Seed: 1, Schedules: b.N}.Run(t)
				if err != nil {
					b.Fatal(err)
				}
				if r.Failure != nil {
					b.Fatal(r.Failure.Message("not saved"))
				}
				virtual = r.VirtualS
			})
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(b.N)/seconds, "schedules/s")
			b.ReportMetric(virtual/seconds, "virtual-s/s")
		})
	}
}

// frame gives f the *testing.T that a run needs: a benchmark has none of its own.
func frame(b *testing.B, f func(t *testing.T)) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a run wants one, a benchmark its own
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: b.Name(), F: f}})
	if !ok {
		b.Fatal("the run ended early")
	}
}
