package sim

import (
	"testing"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// Frame is what runs need and only [InFrame] gives: a program that simulates can
// hold one without knowing the testing package.
type Frame struct{ t *testing.T }

// InFrame is [WithFrame] for programs that do not import testing.
func InFrame(f func(Frame) (status int)) {
	WithFrame(func(t *testing.T) int { return f(Frame{t}) })
}

// Run plays one schedule: see [Run].
func (f Frame) Run(w World, s schedule.Schedule) (*Result, error) { return Run(f.t, w, s) }

// Campaign runs a campaign: see [Campaign.Run].
func (f Frame) Campaign(c Campaign) (*Report, error) { return c.Run(f.t) }

// Explore runs parts of an exploration: see [Exploration.RunParts].
func (f Frame) Explore(e Exploration, parts []Part) (*Explored, error) {
	return e.RunParts(f.t, parts)
}

// Replay runs a schedule again: see [Replay].
func (f Frame) Replay(w World, s schedule.Schedule) (*Replayed, error) {
	return Replay(f.t, w, s)
}
