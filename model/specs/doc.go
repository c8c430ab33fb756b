// Package specs holds abstract specifications for the engine of
// [github.com/hopcheck/hopcheck/model/check], one file each. The file is what
// to read to understand a protocol: its state, its actions as guarded commands,
// its promises, and the mistakes that break them.
//
// Begin with twophase.go, which is the smallest and comes from elsewhere: its
// number of states is known, so it proves that the engine counts right.
package specs
