// Package props says what was promised: one file per promise, each judging a
// [model.History] and nothing else, so that a history from simulation, from live
// mode or from a file gets the same verdict.
//
// A promise's name is what scripts see, its sentence is what people see when it is
// broken, and every broken promise names its witnesses: the events of the history
// that show it. Each ships one history that holds and one that breaks.
//
// Read props.go first; the other files stand alone.
package props
