// Package specs holds abstract specifications for the engine of
// [github.com/hopcheck/hopcheck/model/check], one for each hop. The file named after
// a specification is what to read to understand the protocol: its state, its actions
// as guarded commands, its promises, and the mistakes that break them.
//
// Begin with twophase.go, which is the smallest and comes from elsewhere: its
// number of states is known, so it proves that the engine counts right. Then
// landing.go and player.go.
//
// A specification NAME has up to five files: NAME.go, NAME_entry.go registers it,
// NAME_words.go tells its steps in words, NAME_history.go reads a history as a
// sequence of its steps, and NAME_lift.go makes a schedule of a counterexample.
// registry.go and report.go are what all have in common, conform.go compares a history
// with a specification, and lift.go counts the boundary events of a counterexample.
package specs
