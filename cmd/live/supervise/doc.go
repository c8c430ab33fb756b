// Package supervise runs a world on real servers: it starts every process as a process of
// the operating system, again when it dies, feeds them, does what a life cannot do to
// itself, and merges what the lives wrote into one history.
//
// Reading order: manifest.go, a run's folder; run.go, a run in order; replica.go and
// child_linux.go, the lives; faults.go; asks.go and feed.go, what flows in; merge.go and
// judge.go, what comes out.
package supervise
