// Package worlds wires the hops of package hops into worlds that package sim can
// run: one file a world, registered by name. They are also the worked example of
// how to bring a hop of your own.
//
// Read registry.go, then events.go (what flows in), player.go and landing.go.
package worlds
