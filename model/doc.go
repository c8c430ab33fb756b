// Package model says what happened: the [Event], the [History] that is a list
// of them, the text and JSON Lines forms of a history, and the folds that turn
// a history into state (a log, a group's offsets, a store's objects).
//
// A run is its history. Promises, reports, replay and the abstract models read
// the history and never the live objects, so a history from simulation, from
// live mode or from a file is judged by the same code.
//
// Read in this order:
//
//   - event.go, history.go: what is recorded
//   - text.go (and parse.go, cursor.go): one event as a line to read and grep;
//     the grammar stands at its head
//   - write.go, read.go (and json.go, wire.go): a whole history as a file, in
//     the text form or as JSON Lines
//   - audit.go: what was really there at the end
//   - view.go: what is there so far, while a run goes on
//   - steps.go: the commits, puts, sends and acks that promises speak of
//
// The package imports the standard library alone and does no I/O of its own.
package model
