// Package tap is the boundary of a process: what it says to Kafka, to an object
// store and to its callers, cut into crossings that can be observed, held, lost,
// delayed, answered with an error, or made the last thing the process ever did.
//
// The process under test needs no change: [Dialer] goes into a franz-go client by
// kgo.Dialer, [Hook] by kgo.WithHooks, [Objects] and [NewDatabase] stand in front of
// its store and its database, and [Life.Call] takes any other call. All of them belong
// to one [Life] and hand every crossing to a [Gate], which decides when it passes.
// Simulation has a gate that lets one crossing through at a time on virtual time; live
// mode has one that decides at once.
//
// Read gate.go first (what a crossing is), then life.go, conn.go and frame.go
// (how a Kafka connection is cut into frames), decode.go and the api_*.go files
// (what a frame says), call.go, objects.go and database.go, and hook.go.
//
// The decoder follows the Kafka protocol guide
// (https://kafka.apache.org/protocol) through franz-go's kmsg. A frame that it
// cannot decode is an event with its bytes counted, never an error of the
// process under test.
package tap
