//go:build synctests

package worlds

import (
	"os"
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

func TestZ(t *testing.T) {
	s, err := schedule.Load(os.Getenv("S"))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := Named(s.World)
	r, err := sim.Run(t, e.World, s)
	if err != nil {
		t.Fatal(err)
	}
	r.History.WriteText(os.Stdout)
	t.Log(r.Broken, r.Unfired)
}
