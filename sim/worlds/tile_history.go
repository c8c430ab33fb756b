package worlds

import (
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// DescribeTile says what an object of a tile holds: see [bus.DescribeTile].
func DescribeTile(key string, body []byte) ([]model.Part, []model.Count) {
	return bus.DescribeTile(key, body)
}

var (
	identify   = bus.Identify
	cellsOf    = bus.CellsOf
	cellCounts = bus.CellCounts
)

// orphans counts parts that no entry of the sink log names: what crashes left, and no
// reader through the log ever sees.
func orphans() props.Evidence {
	return props.Evidence{
		Name: "orphan parts never read",
		Count: func(h *model.History) int {
			named := make(map[string]bool)
			parts := 0
			audit := model.Audit(h)
			for _, o := range audit.Objects {
				name, _ := strings.CutPrefix(o.Key, TilePrefix+"/")
				switch {
				case strings.HasPrefix(name, hops.SinkLogDir+"/"):
					for _, c := range o.Counts {
						named[c.Of] = true
					}
				case strings.HasPrefix(name, "part-"):
					parts++
				}
			}
			return parts - len(named)
		},
	}
}
