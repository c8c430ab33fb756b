// Simrun runs worlds of Kafka programs in virtual time, kills the programs where
// they touch the outside, and judges what comes of it.
//
//	go run -tags synctests ./cmd/simrun          every world for some seconds
//	go run -tags synctests ./cmd/simrun help     the other commands
//
// # Results
//
// Tables are for people; --json prints one object a line instead, described at
// the type line in result.go. Progress goes to standard error, and only to a
// terminal. The exit status is the worst of what was found:
//
//	0  every promise held
//	1  a promise was broken (for mutants: one was not caught)
//	2  wrong use or bad input, said in one line
//	3  could not run: wrong build, a worker died or hung
//	4  not decided: interrupted, or something that must happen never did
//
// `go run` makes 1 of every status but 0: scripts build the program first.
//
// # Processes and batches
//
// Exact replay wants one scheduler in a process, so a process runs one schedule at
// a time and more cores take more processes: simrun starts itself as workers
// (worker.go), each of which gets one job as JSON on standard input, says on
// standard output how it goes and what came out, and ends. The parent (fleet.go)
// never simulates.
//
// A campaign is cut into batches of 50 schedules. Batch 0 draws from the seed of
// the campaign, batch k from a seed made of that and k (batch.go). Results are added
// up in the order of batches, up to the first that broke a promise, so that they are
// the same with any number of workers. A machine that is told --shard i/n takes the
// batches k with k mod n = i-1; `simrun merge` adds up what the machines print.
//
// An exploration (explore.go) has batches of as many schedules, in the order of the
// enumeration and of one seed: workers get ranges of numbers, and find the faults
// that these stand for by a run of their own.
//
// # Reading order
//
// main.go and the cmd_*.go files: what a user types. job.go, worker.go, fleet.go:
// processes. batch.go, hunt.go, confirm.go: a campaign over many. result.go,
// table.go: what comes out. check_table.go, lift.go, coverage.go: the specifications.
// save.go, events.go: files. The drawing of a history is package draw.
package main
