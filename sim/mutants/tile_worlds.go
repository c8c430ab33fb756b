package mutants

import (
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// tileOne is the world of one tile: whatever goes wrong, it is not because there are
// two.
func tileOne() sim.World { return worlds.Tile("tile", worlds.TileSetup{Replicas: 1}) }

// tileTwins is the world of two on one checkpoint.
func tileTwins() sim.World { return worlds.Tile("tile-twins", worlds.TileSetup{Replicas: 2}) }

// tileLost is the world of one tile whose checkpoint somebody removes.
func tileLost() sim.World {
	return worlds.Tile("tile-lost", worlds.TileSetup{Replicas: 1, Actor: worlds.LoseCheckpoint})
}
