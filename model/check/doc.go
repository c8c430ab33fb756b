// Package check explores specifications: every state that can be reached from
// the first ones, each once, with the promises judged in all of them. It finds
// the shortest way to a broken promise, or says that there is none.
//
// A specification is a [Spec] over a state, a small struct that can be compared
// with ==. Its Next is a list of guarded commands: if an action is possible, it
// asks [Out.Do] for a copy of the state and edits the copy.
//
//	func next(c *check.Out[State], s *State) {
//		for p := range s.Procs {
//			if s.Procs[p].Asleep {
//				n := c.Do("wake", p)
//				n.Procs[p].Asleep = false
//			}
//			n := c.Fault("crash", p)
//			n.Procs[p] = Proc{Asleep: true}
//		}
//	}
//
// [Check] explores it and returns a [Result]: a verdict, counts, and the
// counterexample as a list of [Step].
//
// # What can be promised
//
// Always holds in every state. Quiescent holds in every state in which nothing
// goes on by itself: no action of [Out.Do] changes it, only faults could. Put
// "all has arrived" there. It is stronger than asking only where nothing at all
// is possible, for a crash is nearly always possible. Liveness over cycles is
// not checked: a protocol that runs in a circle for ever never comes to rest,
// and breaks nothing here. [Result].Quiescent counts the states at rest; zero
// means that the promise was never asked for.
//
// # What a state may hold
//
// Numbers, bools, arrays and structs of them. No pointers, slices, maps,
// strings, interfaces or floats: the state is hashed and compared as the bytes
// that it is. The search packs states to the bits that differ, so room that is
// not used costs little.
//
// Keep the space finite: what counts up (an epoch, a restart) needs a bound in
// its guard.
//
// # Reading order
//
//   - spec.go: the specification and its steps
//   - options.go, result.go: what is asked for and what comes back
//   - check.go: a search, and the counterexample told
//   - search.go: level by level; worker.go: what one worker does in a level,
//     where the time goes
//   - layout.go, table.go: states as bytes, and which of them are known
//   - format.go, store.go: how they are packed, and where they are
//   - graph.go: all states and steps of a small space, for other programs
package check
