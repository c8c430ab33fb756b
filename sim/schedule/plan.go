package schedule

import (
	"slices"
	"sync"
)

// Plan is the faults of one run, asked at each boundary event. Each fault fires at
// most once. A Plan is safe for concurrent use.
type Plan struct {
	mu      sync.Mutex
	faults  []Fault
	fired   []bool
	waiting map[Point][]int // point -> faults there that have not fired, in order
}

// NewPlan returns a plan of the faults, none of which has fired.
func NewPlan(faults []Fault) *Plan {
	p := &Plan{faults: slices.Clone(faults), fired: make([]bool, len(faults)),
		waiting: make(map[Point][]int, len(faults))}
	for i, f := range faults {
		p.waiting[f.At()] = append(p.waiting[f.At()], i)
	}
	return p
}

// At returns the faults at a point, in the order of the schedule, and counts them
// as fired: asked again it returns none. It costs one map lookup.
func (p *Plan) At(at Point) []Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	indexes, ok := p.waiting[at]
	if !ok {
		return nil
	}
	delete(p.waiting, at)
	faults := make([]Fault, len(indexes))
	for i, index := range indexes {
		faults[i], p.fired[index] = p.faults[index], true
	}
	return faults
}

// Unfired returns the faults that have not fired, in the order of the schedule. A
// run that is over and has some did less than its schedule says.
func (p *Plan) Unfired() []Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Fault
	for i, f := range p.faults {
		if !p.fired[i] {
			out = append(out, f)
		}
	}
	return out
}
