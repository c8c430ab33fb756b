// Package stack starts and stops the servers that live mode runs against: Apache
// Kafka in KRaft mode, PostgreSQL with logical decoding, and an S3 server, as plain
// processes of this machine that listen on 127.0.0.1 only.
//
// [Up] finds the programs (fetching Kafka's jars and building the S3 server once,
// into the user's cache folder), chooses ports, starts the servers and returns when
// each answers. They go on when the process that started them ends. [Open] finds
// them again, [Stack.Down] stops them. [Stack.Kill] and [Stack.Start] are for faults.
//
// # What is stopped
//
// Everything is under one folder. Its stack.json names the processes by id and start
// time, so that a process that has got the id of one of ours is left alone. It is
// written before a process starts and after, and each process carries the name of
// its stack in its environment, so that Down finds also what was started by an Up
// that was killed before it could write down the id.
//
// # Reading order
//
// stack.go: up, down. state.go: the file. process.go: start, kill, and with
// process_linux.go what /proc says. ports.go. find.go, java.go: programs and what to
// install. kafka.go, postgres.go, s3.go: one server each. topics.go: topics as the
// hops want them.
//
// Only Linux is supported; elsewhere Up and Open say so.
package stack
