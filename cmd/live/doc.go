// Live runs the hops against real servers. So far it has the servers: a local stack
// of Apache Kafka, PostgreSQL and an S3 server.
//
//	go run ./cmd/live up          starts it and prints the environment to use
//	go run ./cmd/live status      says what runs
//	go run ./cmd/live down        stops it and removes its data
//
// # Results
//
// What up prints is for a shell to read, too: eval "$(live up)". --json prints one
// object a line instead, described at the types in print.go. Progress goes to
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
// servers are package stack.
package main
