// Package model says what happened: the [Event], the [History] that is a list
// of them, the text and JSON Lines forms of a history, and the folds that turn
// a history into state (a log, a group's offsets, a store's objects).
//
// A run is its history. Promises, reports, replay and the abstract models read
// the history and never the live objects, so a history from simulation, from
// live mode or from a file is judged by the same code.
//
// Read event.go first, then history.go, then the folds. The package imports the
// standard library alone and does no I/O of its own.
package model
