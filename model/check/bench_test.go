package check_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/hopcheck/hopcheck/model/check"
	"github.com/hopcheck/hopcheck/model/specs"
)

// BenchmarkTwoPhase measures both engines, with one worker and two, on spaces
// whose size is known: 8 is in the caches at first, 9 is not. "ns/op" and
// "Mstates/s" are of the wall, "Mstates/cpu-s" of the processor and so less
// disturbed by who else runs; its collections by the runtime are included.
func BenchmarkTwoPhase(b *testing.B) {
	for _, managers := range []int{8, 9} {
		for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
			for _, workers := range []int{1, 2} {
				o := check.Options{Engine: engine, Workers: workers}
				b.Run(fmt.Sprintf("managers=%d/%s/workers=%d", managers, engine, workers),
					func(b *testing.B) { measure(b, specs.TwoPhase(managers), o) })
			}
		}
	}
}

// wide is a state as people write it: sets of records as bits, and room.
type wide struct {
	Done [7]uint64
	More [48]uint8
}

// BenchmarkWide measures states of 104 bytes, ten million of them.
func BenchmarkWide(b *testing.B) {
	spec := check.Spec[wide]{
		Init: []wide{{}},
		Next: func(c *check.Out[wide], s *wide) {
			for i, done := range s.Done {
				if done < 1<<9-1 {
					n := c.Do("do", i)
					n.Done[i] = done<<1 | 1
				}
			}
		},
	}
	for _, engine := range []check.Engine{check.Fingerprint, check.Exact} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", engine, workers), func(b *testing.B) {
				measure(b, spec, check.Options{Engine: engine, Workers: workers})
			})
		}
	}
}

func measure[S comparable](b *testing.B, spec check.Spec[S], o check.Options) {
	start := processor(b)
	states, bytes := int64(0), int64(0)
	for b.Loop() {
		r := check.Check(spec, o)
		if r.Verdict != check.Held {
			b.Fatal(r.Verdict, r.Why)
		}
		states += r.States
		bytes = r.Bytes
	}
	each := float64(states) / float64(b.N)
	b.ReportMetric(float64(states)/(processor(b)-start)/1e6, "Mstates/cpu-s")
	b.ReportMetric(float64(states)/b.Elapsed().Seconds()/1e6, "Mstates/s")
	b.ReportMetric(float64(bytes)/each, "B/state")
	b.ReportMetric(each, "states")
}

// processor returns the seconds that this process has used of all processors.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
