// Package mutants holds known-bad hops: each makes one mistake that people make,
// runs in one of our worlds, and names the promise that must catch it. A promise
// counts for nothing until a mutant breaks it and the right hop does not.
//
// Each mutant is a program of its own, in one file, registered by name. The cases
// S1 to S23 are the mistakes of the lesson that the hops come from; A1 to A15 are
// public reports; S24 to S30 are what else goes wrong around a checkpoint and a sink log,
// and from S31 on around an outbox, a replication slot and a fold.
//
// Read registry.go, then any other file.
package mutants
