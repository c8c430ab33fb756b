// Package sim runs a [World] in a bubble of virtual time and breaks it on
// purpose. A world is topics, processes (your own franz-go programs, unchanged),
// a workload and promises; a schedule says what goes wrong and where. A run is
// exactly repeatable and leaves a history, and the promises judge the history.
//
// For a test of your own hop, all you need is [Check]:
//
//	func TestMyHop(t *testing.T) {
//		sim.Check(t, sim.World{ ... })
//	}
//
// Everything that simulates is built with -tags synctests, since franz-go then
// uses mutexes that virtual time can see through; without the tag [Run] and
// [Check] refuse and say what to type.
//
// Reading order: world.go (what you write), run.go (one run from start to audit),
// gate.go (who passes the boundary when), supervisor.go (lives and deaths),
// audit.go, then campaign.go, replay.go and check.go (many runs), failure.go (what
// is printed).
package sim
