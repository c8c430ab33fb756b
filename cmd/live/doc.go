// Live runs the hops on real servers, as processes that are killed.
//
//	go run ./cmd/live up          starts a local stack of Apache Kafka, PostgreSQL and
//	                              an S3 server, and prints the environment to use
//	go run ./cmd/live status      says what runs
//	go run ./cmd/live down        stops it and removes its data
//	go run ./cmd/live run         runs a world on it and judges what is there then
//	go run ./cmd/live audit       judges what a run has left behind
//	go run ./cmd/live clean       removes it
//
// # Results
//
// What up prints is for a shell to read, too: eval "$(live up)". --json prints one
// object a line instead, described at the types in print.go and cmd_*.go. Progress goes to
// standard error, and only to a terminal. The exit status:
//
//	0  done, or every promise held
//	1  a promise was broken
//	2  wrong use or bad input, said in one line
//	3  could not run: no server, something to install, no permission
//	4  not decided: interrupted
//
// `go run` makes 1 of every status but 0: scripts build the program first.
//
// # Reading order
//
// main.go and the cmd_*.go files: what a user types. print.go: what comes out. The
// servers are package stack; which of them a run uses, target; what it runs, worlds; how,
// supervise and proc; what is there afterwards, audit.
package main
