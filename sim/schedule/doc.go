// Package schedule says what goes wrong in a run: a [Schedule] is a list of
// faults, each at one boundary event of one life of one process. It is drawn from
// a seed ([Draw]), enumerated ([Enumerate]), or read from a file ([Parse]), and it
// prints as the file that it parses back from. The seed finds a run; the schedule
// is the run.
//
// A fault names its place by meaning and never by step number: process, life,
// kind of event, operation, n-th occurrence ([Point]). Such a schedule survives
// small changes of the program under test, is readable, shrinks well, and means
// the same in simulation and in live mode. The package decides nothing by itself:
// it says which [Action] stands at which Point, and the boundary carries it out.
//
// Reading order:
//
//   - fault.go: Point, Action, Fault, the vocabulary
//   - schedule.go, parse.go, words.go: the file, printed and parsed
//   - verb.go and the verb_*.go files: one file for each kind of fault
//   - codes.go: the error names that a boundary can answer with
//   - alphabet.go: the places that a run without faults has shown
//   - draw.go, swarm.go: random schedules
//   - shrink.go: the smallest schedule that still fails
//   - plan.go: the matcher that a run asks at each boundary event
//   - file.go: schedules on disk
//
// A new verb is one new file that calls [Register] from its init function;
// parsing, drawing, enumerating and shrinking then know it.
//
// The package imports the standard library and model alone, since the live binary
// links it. There is no global random source and no wall clock in it.
package schedule
