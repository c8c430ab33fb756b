package worlds

import (
	"math/rand/v2"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// WholeBus is the number of all hops together: it stands in the table below the five.
const WholeBus = 6

func init() {
	register(Entry{
		World: Bus(), Hop: WholeBus, Heavy: true,
		Claim: "each hop's own, and none that reaches past its row",
	})
}

// Bus is the world of all hops in one run: players whose events land, are counted in a
// tile and copied in transactions, and registrars whose changes reach the fold. It
// promises what the hops' own worlds promise. Its tile has windows of a day, which the
// morning model counts too.
func Bus() sim.World {
	player := Player()
	publish := EnrollmentSetup{Publishers: 1, Log: true}
	enrollment := Enrollment("enrollment-log", publish)
	w := union(player,
		Landing("landing", Setup{Replicas: 2}),
		Tile("tile", TileSetup{Replicas: 1, Window: day}),
		Validated("validated", ValidatedSetup{Replicas: 2}),
		enrollment)
	w.Name = "bus"
	w.Says = "all five hops: from the player to course_day, and from the row to the fold"
	w.Asks = func(rng *rand.Rand) []sim.Ask {
		return append(player.Asks(rng), publish.Asks(rng)...) // the player is the first process
	}
	w.Identify = bus.Identify
	w.Classify = either(enrollmentCell, bus.CellsOf(day))
	w.Stored = tornTile
	w.Database = enrollment.Database
	w.Sometimes = []props.Sometimes{props.SometimesCrash()}
	w.BrokerConfigs = brokerConfigs
	return w
}
