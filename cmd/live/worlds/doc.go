// Package worlds wires up the hops for real servers: the topics, processes and promises
// of the simulated worlds of the same names, behind the prefix of a run.
//
// Reading order: world.go; names.go, what carries the prefix; landing.go and the other
// worlds, one file each.
package worlds
